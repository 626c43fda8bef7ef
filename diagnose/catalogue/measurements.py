"""Measured prices: the rows of `_shared/measurements.yaml`, each written once and quoted by the costs of fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnose.catalogue.document import Items, Node, Table
from diagnose.catalogue.form import Form, Report, did_you_mean
from diagnose.classes import dataclass

KEYS = ("id", "workload", "source", "golden", "rows")
ROW_KEYS = ("id", "setting", "tflops", "against_golden", "step_ms", "peak_gb", "about", "outcome", "source")
COST_KEYS = ("text", "workload", "source", "measured")


@dataclass(frozen=True, slots=True)
class Row:
    """One measured run."""

    setting: str  # what was set, in words
    tflops: float | None  # TFLOP/s/GPU
    against_golden: str  # percent, where the source rounds it otherwise than the two figures do
    step_ms: float | None  # milliseconds
    peak_gb: float | None  # decimal gigabytes
    about: bool  # the source gives the throughput roundly
    outcome: str  # how it ended, where that is the point
    source: str

    def told(self, golden: float | None) -> str:
        """Write the row as one phrase: "[mlp]: 593.6 TFLOP/s/GPU (-16.4 % against golden 709.93), 55.6 GB"."""
        figures = []
        if self.tflops is not None:
            change = self.against_golden or (f"{(self.tflops / golden - 1) * 100:+.1f}" if golden else "")
            against = f" ({change} % against golden {golden:g})" if golden else ""
            figures.append(f"{'about ' if self.about else ''}{self.tflops:g} TFLOP/s/GPU{against}")
        if self.step_ms is not None:
            figures.append(f"{self.step_ms:g} ms a step")
        if self.peak_gb is not None:
            figures.append(f"{self.peak_gb:g} GB")
        return f"{self.setting}: {', '.join([*figures, *([self.outcome] if self.outcome else [])])}"


@dataclass(frozen=True, slots=True)
class Workload:
    """The runs of one workload, which alone can be held against each other."""

    text: str  # model, GPUs, sizes
    golden: float | None  # TFLOP/s/GPU that the workload should reach
    rows: Mapping[str, Row]


def read_measurements(report: Report, node: Node) -> dict[str, Workload]:
    """Read the file of measurements: id to workload. A broken entry is noted and left out."""
    if not isinstance(node, Items):
        report.add(node.where, "a file of measurements is a list", "begin each workload with `- id: …`")
        return {}
    found: dict[str, Workload] = {}
    for item in node.items:
        if not isinstance(item, Table):
            report.add(item.where, "a workload must be a mapping, `key: value`")
            continue
        before = len(report.troubles)
        form = Form(report, item, "a workload", KEYS)
        form.require("id", "workload", "source", "rows")
        source = form.text("source")
        rows = {
            row.text("id"): _row(row, source)
            for row in (Form(report, table, "a measured row", ROW_KEYS) for table in form.tables("rows"))
        }
        name = form.text("id")
        if name in found:
            form.complain("id", f"the id `{name}` is given twice")
        elif len(report.troubles) == before:
            found[name] = Workload(form.text("workload"), form.decimal("golden"), rows)
    return found


def _row(form: Form, source: str) -> Row:
    form.require("id", "setting")
    tflops, step_ms, peak_gb = (form.decimal(key) for key in ("tflops", "step_ms", "peak_gb"))
    if not any(form.has(key) for key in ("tflops", "step_ms", "peak_gb", "outcome")):
        form.complain("", "nothing was measured", "give tflops, step_ms, peak_gb or outcome")
    return Row(
        setting=form.text("setting"),
        tflops=tflops,
        against_golden=form.raw("against_golden"),
        step_ms=step_ms,
        peak_gb=peak_gb,
        about=form.flag("about", False),
        outcome=form.text("outcome"),
        source=form.text("source") or source,
    )


def quoted(form: Form, measured: Mapping[str, Workload]) -> tuple[str, str, str] | None:
    """Quote rows in a cost: its text, workload and source; None where one cannot be found.

    Arguments: the cursor over a cost whose `measured` lists rows as WORKLOAD/ROW; the workloads by id.
    """
    chosen: dict[str, list[Row]] = {}
    known = [f"{name}/{row}" for name, workload in measured.items() for row in workload.rows]
    names = form.texts("measured", one=True)
    for key, where in zip(names, form.places("measured"), strict=False):
        name, _, row = key.partition("/")
        if key in known:
            chosen.setdefault(name, []).append(measured[name].rows[row])
        elif key:
            form.report.add(where, f"nothing was measured as `{key}`", did_you_mean(key, known))
    if not chosen or sum(map(len, chosen.values())) < len(names):
        return None
    groups = [(measured[name], rows) for name, rows in chosen.items()]
    figures = [_figures(workload, rows, len(groups) > 1) for workload, rows in groups]
    lead = form.text("text").rstrip(" .")
    caveat = "one workload" if len(groups) == 1 else "one workload each"
    sources = dict.fromkeys(row.source for _, rows in groups for row in rows)
    told = "; ".join(figures)
    text = f"{lead}, on {caveat}. {told[:1].upper()}{told[1:]}." if lead else f"{told}. {caveat.capitalize()}."
    return text, "; ".join(workload.text for workload, _ in groups), "; ".join(sources)


def _figures(workload: Workload, rows: Sequence[Row], named: bool) -> str:
    golden = workload.golden
    # The golden figure is said once; the others are understood.
    told = [row.told(golden) for row in rows]
    mark = f" against golden {golden:g}" if golden else ""
    told[1:] = [text.replace(mark, "") for text in told[1:]]
    return (f"on {workload.text.partition(',')[0]} " if named else "") + "; ".join(told)
