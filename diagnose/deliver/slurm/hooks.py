"""Writes the scripts that Slurm calls when a job ends, and installs them."""

from __future__ import annotations

import os
import shlex
import sys

from diagnose import __version__
from diagnose.classes import dataclass

KINDS = ("mailprog", "epilog-slurmctld", "jobcomp", "trap")
MARK = "# diagnose hook:"
_MAILER = "/usr/bin/mail"

_HEAD = """\
#!/bin/sh
{mark} {kind}, of diagnose {version}. To write it anew: diagnose hook slurm {kind} --install PATH
# Returns at once and always exits with 0: the work is done by a process of its own, bounded in time.
PATH=/usr/local/bin:/usr/bin:/bin
export PATH
{environment}cd / || exit 0
PYTHON={python}
"""

_EPILOG = """\
[ -x "$PYTHON" ] || exit 0
{skip}if command -v timeout >/dev/null 2>&1; then set -- timeout -k 5 {limit}; else set --; fi
if command -v setsid >/dev/null 2>&1; then set -- setsid "$@"; fi
"$@" "$PYTHON" {flags} -m diagnose.deliver.slurm.entry {kind} </dev/null >/dev/null 2>&1 &
exit 0
"""

_MAIL = """\
if [ "$1" = --in-background ]; then
  shift
  MAILER={mailer}
  body=
  if [ -x "$PYTHON" ]; then
    if command -v timeout >/dev/null 2>&1; then bound="timeout -k 5 110"; else bound=; fi
    body=$($bound "$PYTHON" {flags} -m diagnose.deliver.slurm.entry mailprog "$@" </dev/null 2>/dev/null)
  fi
  # Whatever became of the report, the mail is sent, and sent once.
  printf '%s\\n' "$body" | "$MAILER" "$@"
  exit 0
fi
if command -v setsid >/dev/null 2>&1; then
  setsid {shell} "$0" --in-background "$@" </dev/null >/dev/null 2>&1 &
else
  {shell} "$0" --in-background "$@" </dev/null >/dev/null 2>&1 &
fi
exit 0
"""

_TRAP = """\
{mark} trap, of diagnose {version}. Paste it behind the #SBATCH lines of a batch script for bash.
diagnose_on_exit() {{
  status=$?
  trap - EXIT TERM
  if [ "$status" -ne 0 ] && [ -n "${{SLURM_JOB_ID:-}}" ]; then
    timeout 60 {environment}{python} {flags} -m diagnose slurm "$SLURM_JOB_ID" --exit-status "$status" >&2 || :
  fi
  exit "$status"
}}
trap diagnose_on_exit EXIT
trap 'exit 143' TERM
"""

_STEPS = {
    "mailprog": ("slurm.conf: MailProg={path}", "scontrol reconfigure"),
    "epilog-slurmctld": ("slurm.conf: EpilogSlurmctld={path}", "scontrol reconfigure"),
    "jobcomp": ("slurm.conf: JobCompType=jobcomp/script", "slurm.conf: JobCompLoc={path}", "restart slurmctld"),
    "trap": ("paste it into the batch script, or source it there: . {path}",),
}


class HookError(Exception):
    """A hook cannot be installed; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that runs the hooks, and how it finds this package."""

    python: str
    flags: str  # keep the current folder and the user's files out of the way of a privileged process
    environment: str  # "" or PYTHONPATH='…'


def interpreter() -> Interpreter:
    """Describe the Python that runs now."""
    import site

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    if root in map(os.path.abspath, site.getsitepackages()):
        return Interpreter(sys.executable, "-I", "")
    return Interpreter(sys.executable, "-P -s", f"PYTHONPATH={shlex.quote(root)}")


def script(kind: str, *, mailer: str = _MAILER, settings: str | None = None, limit: int = 150) -> str:
    """Write one hook.

    Arguments: one of `KINDS`; `mailer`, the program that really sends mail; `settings`, a configuration file other
    than the one in /etc/diagnose; `limit`, seconds after which the work is killed.
    """
    found = interpreter()
    if kind == "trap":
        environment = f"env {found.environment} " if found.environment else ""
        python = shlex.quote(found.python)
        return _TRAP.format(mark=MARK, version=__version__, environment=environment, python=python, flags=found.flags)
    lines = [found.environment] if found.environment else []
    if settings:
        lines.append(f"DIAGNOSE_CONFIG={shlex.quote(os.path.abspath(settings))}")
    environment = "".join(f"{line}\nexport {line.partition('=')[0]}\n" for line in lines)
    head = _HEAD.format(
        mark=MARK, kind=kind, version=__version__, environment=environment, python=shlex.quote(found.python)
    )
    if kind == "mailprog":
        return head + _MAIL.format(mailer=shlex.quote(mailer), flags=found.flags, shell="/bin/sh")
    skip = '[ "$JOBSTATE" = COMPLETED ] && exit 0\n' if kind == "jobcomp" else ""
    return head + _EPILOG.format(skip=skip, limit=limit, flags=found.flags, kind=kind)


def steps(kind: str, path: str) -> list[str]:
    """List what an administrator does once the script is at `path`."""
    return [step.format(path=path) for step in _STEPS[kind]]


def install(path: str, text: str, *, force: bool = False) -> None:
    """Put a hook at `path`, executable, in one step.

    Raises HookError where a file of somebody else stands there (without `force`), or where it cannot be written.
    """
    from diagnose.deliver.announce import write_file

    if os.path.lexists(path) and not force and not is_hook(path):
        raise HookError(f"{path} is there and is no hook of diagnose; name another path, or add --force")
    try:
        write_file(path, text)
        os.chmod(path, 0o755)
    except OSError as error:
        raise HookError(f"{path} cannot be written: {error.strerror}; name another path, or run this as root") from None


def is_hook(path: str) -> bool:
    """Was this file written by `diagnose hook`?"""
    try:
        with open(path, "rb") as file:
            return MARK.encode() in file.read(400)
    except OSError:
        return False
