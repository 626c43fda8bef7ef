"""Finds the line that tells of a failure where nothing in it is known: no pattern, no exception."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from diagnose.catalogue.model import PlacementRule
from diagnose.facts.model import SourceRecord
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence, Kind, Traceback
from diagnose.reason import words
from diagnose.reason.kind import category_of
from diagnose.reason.result import Cause, Finding, Fix

_LAST = 6  # lines that are looked at where nothing else says that the job failed
_ENDS = 3  # of these, the last ones, of which one has to tell of the failure
_SAID = 60  # characters by which lines are alike
_MOST = 3  # logs: of a job's many, each may end on anything
# A level or a word that a program puts in front of what ended it, or words that say how a process ended.
_TELLS = Lazy(
    r"^.{0,80}?(?<![\w.=/-])(?:ERROR|FATAL|CRITICAL)\b(?! ?[=\d])"
    r"|^(?:\S{1,80}: |\S{1,80}: line \d+: )?(?i:fatal|error|fatal error)(?:\[\w+\])?: ?\S"
    r"|^[EF]\d{4} \d\d:\d\d:\d\d"
    r"|\b(?:failed because|failed with (?:error|exit|status|code)|exited with (?:exit )?(?:status|code) [1-9]|"
    r"code=exited, status=[1-9]|returned non-zero|aborted with|could not be started|cannot continue)"
)
# Words of failing, which count on the very last line only.
_FAILS = Lazy(
    r"(?i)\b(?:failed|failure|failing|fail(?:ed)? to|unable to|cannot|can't|could not|couldn't|refused|denied|"
    r"not found|no such|invalid argument|out of memory|not enough|does not exist|doesn't exist|not supported|"
    r"aborting|aborted|assertion|illegal|mismatch(?:ed)?)\b"
)
# What a help text, a comment or a condition says, not a program of what it met.
_EXPLAINS = Lazy(
    r"(?i)^\s{2,}|^\s*[#;*]|(?<!\w)--[a-z]|\.{4}|"
    r"\b(?:if|when|unless|whether|may|might|would|should|in case|e\.g\.|defaults?)\b"
)
# What is told and gone on from, or told of nothing.
_SOFTENS = Lazy(
    r"(?i)\b(?:retry\w*|retries|re-?connect\w*|ignor\w+|continu(?:e|es|ing)|fall(?:ing|s)? ?back|skip\w*|warn\w*|debug|"
    r"deprecat\w+|no errors?|0 errors?|errors?: ?0|error rate|optional|will try|trying|recover\w*|traceback|verbose|"
    r"log[_ -]?level|info|expected failure|using (?:the )?(?:default|internal))\b|: (?:0|no)\s*$|^\s*[\[{]['\"]|^\[W\d"
)
# What a launcher says of the processes that it started.
_EXIT = Lazy(r"(?i)\bexit ?(?:code|status)|\bexited\b|\breturned non-zero|\bterminat\w+|\bkill\w*")
# Lines of a Go or Java program's stack.
_STACK = Lazy(r"^(?:goroutine \d+ \[|\S+\(0x[0-9a-f]+|\s+/\S+\.go:\d+|created by \S|\s+at [\w.$]+\()")
_ENDED_WELL = Lazy(
    r"(?i)\b(?:completed|complete|finished|done|success\w*|succeeded|bye|elapsed|"
    r"exit(?:ing)? normally|all tests|passed)\b"
)
_NUMBERS = Lazy(r"\d+")
_CATEGORY = "environment"  # what a tool, a daemon or a script says that no rule places
_SOURCE = Lazy(r"\.(?:cc|cpp|cu|cuh|h|hpp|rs|go):\d+")  # a program that names the place in its own source


def told_failure(
    records: Sequence[SourceRecord], known: Collection[tuple[str, int]], rules: Iterable[PlacementRule], *, failed: bool
) -> Finding | None:
    """Write the finding of a failure that only a line's own words tell; None where no line does.

    Args:
        records: of all sources.
        known: paths and lines that patterns know, which tell nothing new.
        rules: those that place what no pattern knows.
        failed: whether a launcher said that the job failed. Where none did, a log that trained or ended well, and a
            line behind which the log goes on, tell of no failure.
    """
    shown = next(_told(records, known, failed), None)
    if shown is None:
        return None
    said = words.clipped(shown.text.strip(), 200)
    by = words.speaker(shown)
    category = category_of(_as_exception(shown), rules, otherwise="code" if _SOURCE.search(said) else _CATEGORY)
    return Finding(
        pattern="unknown-error",
        title=said,
        category=category,
        role="root",
        confidence="low",
        why=f"No pattern knows this line, and nothing else in the log tells more. Its words suggest {category}.",
        evidence=(shown,),
        summary=f"Unknown failure{f' on {by}' if by else ''}: {said}",
        captures={"message": shown.text.strip()[:2000]},
        causes=(Cause("not-known", "The line's own words are all that is known.", "possible"),),
        fixes=(Fix("read-the-program", 1, "Look up the words in the program that printed them.", state="unknown"),),
    )


def _told(records: Sequence[SourceRecord], known: Collection[tuple[str, int]], failed: bool) -> Iterator[Evidence]:
    logs = [record for record in records if record.kind is Kind.LOG]
    if not failed and (len(logs) > _MOST or any(record.steps for record in records)):
        return
    for record in logs:
        said = [line for line in record.tail if not _STACK.search(line.text)]
        tail = said if failed else said[-_LAST:]
        inside = [unit.lines for unit in record.tracebacks]
        fresh = [
            line
            for line in tail
            if (line.path, line.line) not in known and not any(first <= line.line <= last for first, last in inside)
        ]
        telling = list(filter(_tells, fresh))
        if failed:
            yield from (line for line in telling if _EXIT.search(line.text) is None)
        elif not any(map(_went_well, tail)):
            if telling and telling[-1] in tail[-_ENDS:]:
                yield from telling
            elif fresh and fresh[-1] is tail[-1] and _fails(fresh[-1]):
                yield _first_alike(tail, fresh[-1])


def _first_alike(lines: Sequence[Evidence], last: Evidence) -> Evidence:
    """Return the first of lines that say the same as the last one, numbers and a cut end apart."""
    said = _NUMBERS.sub("#", last.text.strip())[:_SAID]
    return next((line for line in lines if _NUMBERS.sub("#", line.text.strip()).startswith(said)), last)


def _tells(line: Evidence) -> bool:
    return _TELLS.search(line.text) is not None and _SOFTENS.search(line.text) is None


def _fails(line: Evidence) -> bool:
    return _FAILS.search(line.text) is not None and not (_SOFTENS.search(line.text) or _EXPLAINS.search(line.text))


def _went_well(line: Evidence) -> bool:
    return _ENDED_WELL.search(line.text) is not None


def _as_exception(line: Evidence) -> Traceback:
    return Traceback(head=line, final=line, type="", message=line.text.strip())
