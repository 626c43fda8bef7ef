"""Makes one diagnosis and brings it where it is wanted: report files, termination message, notifiers."""

from __future__ import annotations

import glob
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from functools import partial

from diagnose.classes import replace
from diagnose.deliver.confinement import Confinement, owned_by
from diagnose.deliver.redact import redact
from diagnose.deliver.settings import Settings, load_settings
from diagnose.deliver.task import Announced, Task
from diagnose.deliver.termination import termination_message, write_termination
from diagnose.typed import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from diagnose.deliver.model import Deliver
    from diagnose.reason.result import Diagnosis
    from diagnose.report.model import Context

T = TypeVar("T")

_MOST = 1000  # files that one pattern stands for


def announce(task: Task) -> Announced:
    """Diagnose and announce; what cannot be written or sent becomes a problem, never an error."""
    settings = load_settings(task.settings)
    problems = [f"{each}" for each in settings.troubles[:3]]
    diagnosis, context = _diagnose(task, settings, problems)
    if task.quiet_if_healthy and diagnosis.verdict in ("no_failure", "degraded"):
        return Announced(diagnosis.verdict, diagnosis.summary, problems=tuple(problems))
    masked = redact(diagnosis)
    kept = masked if settings.redact else diagnosis
    if task.report:
        problems += _write_reports(task.report, kept, context)
    if task.termination:
        message = termination_message(masked)
        problems += _attempt(task.termination, partial(write_termination, task.termination, message))
    if task.notify and settings.notify.entries:
        problems += _notify(masked, task, settings)
    return Announced(
        verdict=diagnosis.verdict,
        summary=kept.summary,
        text=_render("text", kept, replace(context, color=task.color, width=task.width)),
        markdown=_render("markdown", masked, context),
        problems=tuple(problems),
    )


def _diagnose(task: Task, settings: Settings, problems: list[str]) -> tuple[Diagnosis, Context]:
    from diagnose import __version__, api
    from diagnose.read.model import Kind, Source
    from diagnose.report.model import Context

    catalogue = api.load_catalogue([*settings.patterns, *task.patterns])
    extra = [
        Source(each.path, Kind(each.kind), node=each.node or None, content=each.content.encode("utf-8", "replace"))
        for each in task.texts
    ]
    paths = list(task.paths) if task.owner is None else own_files(task.paths, task.owner, problems)
    # What was looked at by its name is looked at again once it is open: the user may swap it meanwhile.
    with nullcontext() if task.owner is None else Confinement(owned_by(task.owner), paths).on():
        found = api.diagnose(paths, catalogue=catalogue, extra=extra)
    diagnosis = renamed(found, task.shown)
    titles = {key: catalogue.patterns[key].title for key in _named(diagnosis) if key in catalogue.patterns}
    return diagnosis, Context(__version__, len(catalogue.patterns), catalogue.digest, titles=titles)


def _named(diagnosis: Diagnosis) -> Iterable[str]:
    roots = [] if diagnosis.root_cause is None else [diagnosis.root_cause]
    yield from (finding.pattern for finding in (*roots, *diagnosis.alternatives, *diagnosis.risks))
    yield from (each.pattern for each in diagnosis.fallout)


def own_files(paths: Iterable[str], owner: int, problems: list[str]) -> list[str]:
    """Keep the files that belong to the user `owner`: a hook must not show a user what only the hook may read.

    A path comes from the user's job script, so it may name, or link to, any file of the machine. The same is said of
    what is not there and of what is another's: whether such a file exists is not the user's to know either.
    """
    kept: list[str] = []
    for path in paths:
        names = [path] if os.path.lexists(path) else sorted(glob.glob(path))[:_MOST]
        own = [real for real in map(os.path.realpath, names) if _is_own_file(real, owner)]
        if not own:
            problems.append(f"{path}: there is no file of the job's user that can be read")
        kept += own
    return kept


def _is_own_file(path: str, owner: int) -> bool:
    try:
        status = os.stat(path)
    except OSError:
        return False
    return status.st_uid == owner and stat.S_ISREG(status.st_mode)


def renamed(value: T, shown: Mapping[str, str]) -> T:
    """Give a copy of `value` in which every text names paths as they are shown, not as they were opened."""
    if not shown:
        return value
    return cast(T, _renamed(value, shown))


def _renamed(value: Any, shown: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for opened, name in shown.items():
            value = value.replace(opened, name)
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{field.name: _renamed(getattr(value, field.name), shown) for field in fields(value)})
    if isinstance(value, dict):
        return {key: _renamed(item, shown) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_renamed(item, shown) for item in value)
    return value


def _render(form: str, diagnosis: Diagnosis, context: Context) -> str:
    from diagnose.report import RENDERERS

    return RENDERERS[form](diagnosis, context)


def _write_reports(base: str, diagnosis: Diagnosis, context: Context) -> list[str]:
    found: list[str] = []
    for ending, form in ((".json", "json"), (".md", "markdown")):
        found += _attempt(base + ending, partial(write_file, base + ending, _render(form, diagnosis, context)))
    return found


def write_file(path: str, text: str) -> None:
    """Write a file in one step: who reads it sees the old one or the new one; raises OSError.

    A symbolic link at `path` is replaced, not followed.
    """
    handle, temporary = tempfile.mkstemp(prefix=".diagnose-", dir=os.path.dirname(path) or ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o644 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _attempt(path: str, write: Callable[[], None]) -> list[str]:
    try:
        write()
    except OSError as error:
        return [f"{path} could not be written: {error.strerror or error}"]
    return []


def _notify(masked: Diagnosis, task: Task, settings: Settings) -> list[str]:
    from importlib import import_module

    try:
        deliver = cast("Deliver", import_module("diagnose.deliver.notify").deliver)
        outcomes = deliver(masked, task.event, settings.notify)
    except Exception as error:  # a notifier must not cost the report
        return [f"the notification failed: {type(error).__name__}: {error}"]
    return [f"notifier {each.notifier}: {each.error}" for each in outcomes if not each.ok]
