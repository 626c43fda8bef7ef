"""Reads the lines between iterations: checkpoints, evaluations, phases, timers, and how the program ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from diagnose.facts.model import Observation, Step
from diagnose.facts.progress_lines import NUMBER
from diagnose.facts.reader import Reader, TextView, following
from diagnose.lazy import Lazy
from diagnose.read.model import Line

_AT = r"(?:\D{0,40}?(?:iteration|step)[ :=]{0,3}\s{0,8}(\d{1,15}))?"
_FORMS: tuple[tuple[str, Lazy], ...] = tuple(
    (kind, Lazy(pattern.replace("%AT", _AT), re.IGNORECASE))
    for kind, pattern in (
        ("exit", r"\[exiting program (?P<text>[^\]]{1,200})\]"),
        ("phase", r"\[(?P<text>[^\[\]]{1,200})\] datetime: "),
        ("eval", r"validation loss at (?P<text>[^|]{1,200})\|"),
        ("eval", r"validation: iteration (?P<number>\d{1,15})/"),
        ("eval", r"\| {0,40}tasks {0,40}\|version\|"),  # the table that ends an evaluation of lm-eval
        ("saved", r"(?<!un)successfully saved checkpoint from iteration\s{1,12}(?P<number>\d{1,15})"),
        ("save", r"scheduled an async checkpoint save at iteration\s{1,12}(?P<number>\d{1,15})"),
        ("saved", r"\[torch\] saved \S{0,400}?global_step(?P<number>\d{1,15})"),
        ("saved", r"\bsaved (?:model )?checkpoint\b(?P<text>.{0,300})"),
        ("save", r"\bsaving (?:model )?checkpoint\b(?P<text>.{0,300})"),
        ("loaded", r"successfully loaded checkpoint\b(?P<text>.{0,300})"),
        ("loaded", r"\bresum(?:ing|ed) (?:training )?from (?:checkpoint )?(?P<text>.{0,300})"),
        ("load", r"\bloading (?:distributed |model |global )?checkpoint (?:from )?(?P<text>.{0,300})"),
        (
            "exit",
            r"^(?:.{0,120}?(?:[\]:|>] ?| - )|\W{0,40})"
            r"(?P<text>training (?:is |was )?(?:completed?|finished|done)\b.{0,80})",
        ),
        ("exit", r"^(?:.{0,120}?[\]:|>] ?|\W{0,40})(?P<text>(?:finished|completed) training\b.{0,80})"),
        ("exit", r"(?P<text>`Trainer\.fit` stopped: .{1,100})"),
        ("exit", r"(?P<text>'train_runtime': [^,]{1,30})"),
    )
)
_NUMBERS = (
    Lazy(r"(?:iteration|step)[ :=_]{0,3}\s{0,8}(\d{1,15})", re.IGNORECASE),
    Lazy(r"checkpoint-(\d{1,15})"),
    Lazy(r"(?:global_step|iter_0{0,8}|step=)(\d{1,15})"),
)
_LOSS = Lazy(rf"loss value: ({NUMBER})", re.IGNORECASE)
_STAMP = Lazy(r"datetime: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?)")
_NEGATED = Lazy(r"\b(?:not|fail(?:ed)?|unable|error|could|cannot|before|until|when|if)\b", re.IGNORECASE)
_DONE = Lazy(
    r"(?:\W{0,40}|.{0,80}\b(?:rank|worker|process) ?\d{1,6}\W{1,3})"
    r"(?:all )?(?:done|finished|completed?|success(?:fully)?)[.! ]*",
    re.IGNORECASE,
)
_TIMER = Lazy(r"\s{0,20}([\w-]{1,80}) \.{2,80}: \((\d{1,12}\.\d{1,6}), (\d{1,12}\.\d{1,6})\)")
_TIMER_ROWS = 80


def read_milestone(body: str) -> tuple[str, int | None, str] | None:
    """Read one line: its kind of step, an iteration number, and what else it says (a phase, a path, a reason)."""
    for kind, form in _FORMS:
        found = form.search(body)
        if not found:
            continue
        groups = found.groupdict()
        said = (groups.get("text") or "").strip()
        if "train_runtime" in said and "'loss'" in body:
            continue  # a step's own numbers
        if kind == "exit" and not said.startswith(("at", "after", "'", "`")) and _NEGATED.search(body):
            return None
        number = groups.get("number") or next((m[1] for form in _NUMBERS if (m := form.search(said))), None)
        return kind, int(number) if number else None, said
    return None


def ends_well(body: str) -> bool:
    """Whether a log's last words say that the program came to its end: `done`, `rank 0 done`, `Training completed`."""
    if _DONE.fullmatch(body.strip()):
        return True
    found = read_milestone(body)
    if not found or "SIGTERM" in body:
        return False
    return found[0] == "exit" or (found[0] == "phase" and found[2] == "after training is done")


def _read(text: TextView, line: Line) -> Iterator[Step]:
    found = read_milestone(line.body)
    if not found:
        return
    kind, number, said = found
    loss = _LOSS.search(line.body)
    metrics = {"loss": float(loss[1])} if loss else {}
    time = line.time if line.time is not None else _stamp(line.body)
    yield Step(kind, number, line.start, text.evidence(line), time, line.lane, said, metrics)


def _stamp(body: str) -> float | None:
    found = _STAMP.search(body)
    try:
        return datetime.fromisoformat(found[1]).replace(tzinfo=UTC).timestamp() if found else None
    except (ValueError, OverflowError):
        return None


def _timers(text: TextView, head: Line) -> Iterator[Observation]:
    for line in following(text, head, _TIMER_ROWS):
        found = _TIMER.match(line.body)
        if not found:
            return
        times: list[float] = [float(found[2]), float(found[3])]
        yield Observation(f"run.timers.{found[1]}", [*times], text.evidence(line), "timers")


MILESTONES = Reader(
    "milestones",
    (
        b"[exiting program",
        b"] datetime: ",
        b"alidation loss at ",
        b"Validation: iteration ",
        b"|Version|",
        b"aving checkpoint",
        b"aved checkpoint",
        b"aving model checkpoint",
        b"scheduled an async checkpoint save",
        b"[Torch] Saved ",
        b"loaded checkpoint",
        b"oading checkpoint",
        b"oading distributed checkpoint",
        b"esuming from",
        b"esuming training from",
        b"raining completed",
        b"raining complete",
        b"raining finished",
        b"raining done",
        b"inished training",
        b"`Trainer.fit` stopped",
        b"'train_runtime'",
    ),
    _read,
    keep=100,
)
TIMERS = Reader("timers", (b"time across ranks (ms)",), _timers, keep=2)
