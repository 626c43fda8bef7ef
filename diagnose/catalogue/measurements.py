"""Measured prices: the rows of `_shared/measurements.yaml`, each written once and quoted by the costs of fixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diagnose.catalogue.document import Items, Node, Table
from diagnose.catalogue.form import Form, Report, did_you_mean

KEYS = ("id", "workload", "source", "golden", "rows")
ROW_KEYS = ("id", "setting", "tflops", "step_ms", "peak_gb", "about", "outcome", "source")
COST_KEYS = ("text", "workload", "source", "measured", "rows")


@dataclass(frozen=True, slots=True)
class Row:
    """One measured run."""

    setting: str  # what was set, in words
    tflops: float | None  # TFLOP/s/GPU
    step_ms: float | None  # milliseconds
    peak_gb: float | None  # decimal gigabytes
    about: bool  # the source gives the throughput roundly
    outcome: str  # how it ended, where that is the point
    source: str

    def told(self, golden: float | None) -> str:
        """Write the row as one phrase: "[mlp]: 593.6 TFLOP/s/GPU (-16.4 % against golden 709.93), 55.6 GB"."""
        figures = []
        if self.tflops is not None:
            against = f" ({(self.tflops / golden - 1) * 100:+.1f} % against golden {golden:g})" if golden else ""
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
    figures = [form.decimal(key) for key in ("tflops", "step_ms", "peak_gb")]
    if all(figure is None for figure in figures) and not form.has("outcome"):
        form.complain("", "nothing was measured", "give tflops, step_ms, peak_gb or outcome")
    return Row(
        form.text("setting"), *figures, form.flag("about", False), form.text("outcome"), form.text("source") or source
    )


def quoted(form: Form, measured: Mapping[str, Workload]) -> tuple[str, str, str] | None:
    """Quote rows in a cost: its text, workload and source; None where they cannot be found.

    Arguments: the cursor over a cost that names a workload in `measured`; the workloads by id.
    """
    name = form.text("measured")
    workload = measured.get(name)
    if workload is None:
        form.complain("measured", f"no workload is called `{name}`", did_you_mean(name, sorted(measured)))
        return None
    rows = []
    for key, where in zip(form.texts("rows"), form.places("rows"), strict=False):
        if key in workload.rows:
            rows.append(workload.rows[key])
        else:
            form.report.add(where, f"`{name}` has no row `{key}`", did_you_mean(key, sorted(workload.rows)))
    if not rows:
        form.require("rows")
        return None
    figures = "; ".join(row.told(workload.golden) for row in rows)
    lead = form.text("text").rstrip()
    text = f"{lead} {figures}. One workload." if lead else f"{figures}. One workload."
    sources = dict.fromkeys(row.source for row in rows)
    return text, workload.text, "; ".join(sources)
