"""A pattern as the rest of the program sees it: typed, validated, ready to match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnose.classes import dataclass, field
from diagnose.typed import Any

CATEGORIES = (
    "gpu-memory",
    "host-memory",
    "config",
    "cuda-error",
    "numerical",
    "collective",
    "network",
    "gpu-hardware",
    "node",
    "storage",
    "checkpoint",
    "data",
    "environment",
    "code",
    "compile",
    "scheduler",
    "kubernetes",
    "performance",
)
ROLES = ("root", "cascade", "confirmation", "teardown", "advice", "wrapper", "progress")
STATUSES = ("experimental", "stable", "deprecated")
CONTEXTS = ("any", "line", "exception", "frame")
SPECIFICITIES = ("generic", "normal", "specific")


@dataclass(frozen=True, slots=True)
class Near:
    """A second expression that must (or must not) stand near the matched line, in the same speaker's words."""

    regex: str
    within: int = 20  # lines of the same speaker, counted from the matched line
    where: str = "around"  # before | after | around
    absent: bool = False  # True: the alternative matches only where this is NOT found


@dataclass(frozen=True, slots=True)
class Alternative:
    """One wording of the failure."""

    regex: str = ""  # searched in the line's body; named groups become captures; "" only with `frame`
    context: str = "any"  # any | line (outside of tracebacks) | exception (its type and message) | frame (source lines)
    exception: tuple[str, ...] = ()  # last components of the exception's type; () any
    frame: str = ""  # searched in "file:line in function: code" of the traceback's frames
    unless: tuple[str, ...] = ()  # `not`: expressions that, found in the line, say it is something else
    near: tuple[Near, ...] = ()
    versions: str = ""  # releases that print this wording, e.g. "core>=0.16,<0.18"; shown in the manual and implied
    title: str = ""  # this wording's own title, where the pattern's is too wide
    implies: dict[str, Any] = field(default_factory=dict)  # facts that it proves: config.cpu_offloading: true
    literals: tuple[str, ...] = ()  # extracted or given: one of them is on every line that can match
    nocase: bool = False
    note: str = ""
    inferred: str = ""  # no line says it; in words, what it is inferred from


@dataclass(frozen=True, slots=True)
class CheckRule:
    """A question that the program answers itself from facts."""

    id: str
    question: str
    when: str = ""  # condition; "" means that only a person can answer it
    observed: str = ""  # template for what was seen; "" shows the facts that the condition used
    look: str = ""  # what a person does where no fact answers it


@dataclass(frozen=True, slots=True)
class CauseRule:
    """A possible reason, decided by checks."""

    id: str
    text: str
    when: str = ""  # condition; yes confirmed, no ruled out, unknown possible; "" always possible


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines to paste for one framework or place, for some releases."""

    target: str  # bridge | megatron-lm | nemo | env | shell | python | slurm | kubernetes | deepspeed | …
    lines: tuple[str, ...]
    when: str = ""  # condition on versions or configuration; unknown shows them with `holds`
    holds: str = ""  # in words: "Megatron Core 0.18 and later"


@dataclass(frozen=True, slots=True)
class CostRule:
    """A fix's price, as measured on one workload."""

    text: str
    workload: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class FixRule:
    """One thing to try."""

    id: str
    text: str
    when: str = ""  # condition; no -> not applicable
    unless: str = ""  # condition; yes -> already applied
    avoid: str = ""  # condition; yes -> not applicable, with `avoid_why`
    avoid_why: str = ""
    warning: str = ""  # shown with the fix
    warn_when: str = ""  # condition for the warning; "" always
    how: tuple[Lines, ...] = ()
    cost: CostRule | None = None
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionRule:
    """What to do with the job."""

    restart: str = "unknown"  # as_is | after_fix | no | unknown
    scope: str = "unknown"  # config | code | data | infrastructure | scheduler | unknown
    exclude_node: bool = False  # True: the node that said it is named for exclusion
    why: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """A few lines that the pattern must match, or must not."""

    text: str
    expect: dict[str, str] = field(default_factory=dict)  # captures
    line: str = ""  # a part of the line that must be the evidence; "" any
    why: str = ""  # for a look-alike: what it is instead


@dataclass(frozen=True, slots=True)
class Pattern:
    """One failure: how it is recognised, explained, checked and mended."""

    id: str
    title: str
    category: str
    role: str
    status: str
    match: tuple[Alternative, ...]
    family: str = ""  # the folder it lies in
    aliases: tuple[str, ...] = ()
    about: str = ""  # the manual: what happens, what it is mistaken for, where to look
    summary: str = ""  # template of the one sentence, with {captures} and {config.keys}
    specificity: str = "normal"  # generic | normal | specific: a specific one beats a generic one on the same event
    conclusive: bool = True  # False: the line tells how it died, not why; the verdict is symptom_only unless confirmed
    lasting: bool = False  # True: progress after it does not take it back (a NaN loss, a node that drains)
    victim: str = ""  # who says it was only hit: "waiting" (for a rank that did not come) or "peer-gone"
    marks: str = ""  # "restart": a new attempt begins here; "end": the job ended well here
    explains: tuple[str, ...] = ()  # pattern ids, categories or roles that this can cause
    confirms: tuple[str, ...] = ()  # for confirmations: the pattern ids it turns into a proven cause
    cancelled_by: tuple[str, ...] = ()  # pattern ids that, seen later from the same speaker, take it back
    predict: str = ""  # condition on configuration: would this fail? (used before a run, and as a risk)
    predict_later: str = ""  # the same, where the run starts and fails afterwards: at the first step, at graph capture
    compare: str = ""  # condition on two runs: does the comparison show it?
    let: dict[str, str] = field(default_factory=dict)  # named values for the conditions, in order
    checks: tuple[CheckRule, ...] = ()
    causes: tuple[CauseRule, ...] = ()
    fixes: tuple[FixRule, ...] = ()
    action: ActionRule = ActionRule()
    references: tuple[str, ...] = ()
    samples_match: tuple[Sample, ...] = ()
    samples_no_match: tuple[Sample, ...] = ()
    origin: str = ""  # file it came from


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something wrong in a pattern file."""

    path: str
    line: int
    column: int
    message: str  # what is wrong
    hint: str = ""  # what to do

    def __str__(self) -> str:
        text = f"{self.path}:{self.line}:{self.column}: {self.message}"
        return f"{text}\n    hint: {self.hint}" if self.hint else text


@dataclass(frozen=True, slots=True)
class Wording:
    """What the scan must know of one alternative; it is there before the pattern itself is built."""

    pattern: str  # id
    number: int  # index of the alternative in the pattern's `match`
    literals: tuple[str, ...]  # one of them is on every line that can match
    nocase: bool  # compare them without regard to ASCII case
    exception: tuple[str, ...]  # last components of the exception's type
    framed: bool  # True: it has no expression of its own and is found in a traceback's frames


@dataclass(frozen=True, slots=True)
class PlacementRule:
    """Where an exception that no pattern knows is filed if this fits it; what is empty asks for nothing.

    It has one of `category`, `places` and `rules`. Where none of `places` or `rules` fits, the next rule is asked.
    """

    category: str = ""
    places: tuple[tuple[str, str], ...] = ()  # categories and expressions: the innermost frame that any fits decides
    no_place: str = ""  # frames that tell nothing to `places`
    rules: tuple[PlacementRule, ...] = ()
    type: tuple[str, ...] = ()  # last components of the exception's type
    package: tuple[str, ...] = ()  # first parts of the whole type
    errno: tuple[str, ...] = ()
    message: str = ""
    unless: str = ""  # over the message
    frame: str = ""  # over "file in function" of the innermost frame
    code: str = ""  # over the line of code of the innermost frame
    library: bool = False  # the innermost frame is a library's
    importing: bool = False  # a library's module, or a class in it, was being imported


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All patterns in force, and what was wrong with the files that are not."""

    patterns: Mapping[str, Pattern]  # a pattern out of the cache is built when it is first asked for
    troubles: tuple[Trouble, ...] = ()
    digest: str = ""  # of the contents, 12 hex digits
    aliases: dict[str, str] = field(default_factory=dict)
    wordings: Sequence[Wording] = ()  # of all patterns, in the order of `patterns`
    predictions: dict[str, str] = field(default_factory=dict)  # pattern id -> its `predict`, where it has one
    later: dict[str, str] = field(default_factory=dict)  # the same for `predict_later`
    comparisons: dict[str, str] = field(default_factory=dict)  # the same for `compare`
    codes: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)  # table -> code -> field -> text
    placement: Sequence[PlacementRule] = ()  # for exceptions that no pattern knows; the first that fits
    kept: tuple[str, str] | None = None  # its cache file and the checksum; None where it has none
