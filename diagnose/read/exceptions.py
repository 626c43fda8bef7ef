"""Recognises the lines that Python tracebacks are made of."""

from __future__ import annotations

import re

from diagnose.lazy import Lazy

HEAD_WORDS = "Traceback (most recent call last)"
CAUSE = "The above exception was the direct cause of the following exception:"
CONTEXT = "During handling of the above exception, another exception occurred:"

# What a head line says before and after its words; a quoted one ("print('Traceback …')") does not fit.
HEAD = Lazy(
    r"(?P<before>.{0,400}?)(?P<kind>\+ Exception Group |Original )?Traceback \(most recent call last\)"
    r"(?: ?─+\W*|:[ \t]*(?:\(RANK (?P<rank>\d{1,7})\))?[ \t]*(?P<after>\\n.*|[█▉▊▋▌▍▎▏#| ]{2,600}\d+/\d+ \[.*)?)$"
    r"|(?P<notebook>\s*(?:[A-Za-z_]\w{2,80} {2,}|[A-Z]\w{1,80}(?:Error|Exception) ))"
    r"Traceback \(most recent call last\)\s*$"
)
FILE = Lazy(r'File "([^"]{0,4096})", line (\d{1,9})(?:, in(?: (.{0,500}))?)?$')
RICH_FRAME = Lazy(r"(/[^\s:]{1,1000}|[^\s:]{1,1000}\.py):(\d{1,9}) in (\S{1,200})")
RICH_CODE = Lazy(r"❱ +\d+ (.*)")
# IPython and notebooks: the head begins with the type, frames name the file and the call, an arrow marks the line.
NOTEBOOK_FRAME = Lazy(
    r"(?:File )?\[?([~/][^\s:()\]]{1,1000}|[A-Za-z]:[\\/][^\s:()\]]{1,1000}|<[\w-]{1,80}>"
    r"|(?:Cell In|Input In) ?\[\d{1,6}\])"
    r"(?:\]\([^)\s]{1,1000}\))?(?: Cell \d{1,6})?"  # Colab, Jupyter and VS Code link files, and number cells
    r"(?::(\d{1,9}))?(?:\]\([^)\s]{1,1000}\))?(?:\([^)]{0,300}\))?,? (?:in (\S[^(\s]{0,300})|line (\d{1,9}))"
)
_LINKED = r"(?:\[(?=\d))?(\d{1,9})(?:\]\([^)\s]{1,1000}\))?"  # a line's number, which VS Code links too
NOTEBOOK_CODE = Lazy(rf"-{{1,10}}> ?{_LINKED}(?: (.*))?$")
NOTEBOOK_REST = Lazy(rf"{_LINKED}(?: |$)|\d+ frames?$|\(\.\.\.\)|[)\]}}\^~]")
SEPARATOR = Lazy(r" *\+[-+]+(?: (\d+|\.\.\.) )?-*$")  # between the members of an exception group
MARKERS = Lazy(r"[\^~\s]+$|\[Previous line repeated \d+ more times?\]$|\.\.\.<\d+ lines>\.\.\.$")

_FINAL = Lazy(
    r"((?:(?:[A-Za-z_]\w*|<locals>)\.){0,30}[A-Za-z_]\w{0,120})(\([\w.]{1,200}\))?(?: \(see above for traceback\))?"
    r"(?:(:)(?: (.*))?|)$",
    re.DOTALL,
)
_KNOWN = Lazy(
    r".*(?:Error|Exception|Exit|Interrupt|Iteration|Timeout|Failure|Abort|Aborted|Cancelled|Cancel|Expired|Group"
    r"|Unsupported|Empty|Full|Refused|Missing|NotFound|Warning|Fault|Killed|Again|Break|Failed"
    r"|error|timeout|exception|herror|gaierror)"
)
_NOT_TYPES_WORDS = """
Note Hint Epoch Step Loss Rank Iteration Info Debug Warn Warning Error Usage Time Date File
"""
_NOT_TYPES = frozenset(_NOT_TYPES_WORDS.split())

# A type that ordinary words are not taken for, where no traceback's head stands before it.
_PLAIN = Lazy(r"[A-Z]\w*[a-z]\w*(?:Error|Exception|Failed|Iteration)|OSError|IOError|error")

# `Type('text')` as `repr` writes an exception; an OSError's number stands before the text.
_REPR = Lazy(
    r"((?:[A-Za-z_]\w*\.){0,30}[A-Z]\w{0,120})\((?:(\d{1,5}), )?"
    r"(?:'((?:[^'\\]|\\.){0,8000})'|\"((?:[^\"\\]|\\.){0,8000})\")"
    r"(?:, [^()]{0,400})?,?\)",
    re.DOTALL,
    needs=("('", '("', ", '", ', "'),
)
_OPENS = Lazy(r"\b(?:[A-Za-z_]\w{0,120}\.){0,8}[A-Z]\w{0,120}\((?:\d{1,5}, )?['\"]", needs=("('", '("', ", '", ', "'))
_TIGHT = Lazy(r"((?:[A-Za-z_]\w{0,120}\.){0,8}[A-Z]\w{0,120}(?:Error|Exception):)([^\s:].*)", re.DOTALL)
_GLUED = Lazy(r"((?:assert|raise) .{1,1000}?)([A-Z][a-z]\w{0,60}Error)", needs=("Error",))
# A type out of a package's module of exceptions, whatever its own name is like.
_DOTTED = Lazy(
    r"((?:[A-Za-z_]\w{0,60}\.){1,8}(?:exceptions|errorfactory|errors|exc)\.[A-Z]\w{2,120})(?:: (.*))?",
    re.DOTALL,
    needs=("exceptions.", "errorfactory.", "errors.", "exc."),
)
_REPORTS = Lazy(r"(?i).{0,200}\b(?:fail(?:ed|ure)?|fatal|crash(?:ed)?|errors?|exception|aborted)\b[^'\"(\[]{0,60}$")
_SOFTENS = Lazy(r"(?i)\b(?:warn\w*|retr(?:y|ied|ying)|attempt|skip\w*|ignor\w*|raise|except|expected)\b")

# How debuggers of editors announce an exception: its text stands on the next line, its frames below.
_DEBUGGED = Lazy(
    r"(?:Exception has occurred|发生异常): ((?:[A-Za-z_]\w*\.){0,8}[A-Za-z_]\w{0,120})(?: \(note: .{0,200})?\s*"
)
# A line that begins like this is no part of an exception's message.
_OTHER = Lazy(
    r"[=*]{16,}|-{20,}"
    r"|\[?[IWEFC]\d{3,4} \d\d:\d\d:\d\d"
    r"|\[?(?:NeMo [A-Z] )?\d{4}-\d\d-\d\d[T _]\d\d:\d\d|\[?\d\d/\d\d/\d{2,4} \d\d:\d\d"
    r"|\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b(?:[:|\]]| -| \d| \[)"
    r"|iteration +\d+/|[Ss]tep:? +\d+|[Ee]poch:? +\d+|.{0,80}?\d{1,3}%\|"
    r"|(?:srun|salloc|sbatch|wandb|slurmstepd[\w.-]*): |terminate called"
    r"|Fatal Python error|Exception (?:ignored|in thread) "
    r"|(?:Current t|T)hread 0x[0-9a-f]+|Process \S+:$|(?:Aborted|Killed|Terminated|Segmentation fault|Bus error)\b"
    r"|[\w.-]+:\d+:\d+ \[\d+\] |\+ [\w./]|(?:Failures:|Root Cause )|\[exiting program|\[(?:after|before) [a-z]"
    r"|> [a-z]|```|saving checkpoint|\S{1,300}\.pyx?:\d+: \w+:|#+ |\*\*\* "
)
_AFTER_BLANK = Lazy(
    r"Set TORCH|from user code|You can suppress|For |Please |Hint|Note|See |frame #\d|C\+\+ |Last error"
    r"|\[?Exception raised|(?:Repository|Entry|Revision) Not Found|Bad request|Cannot access "
)


def exception_of(words: str, *, sure: bool = False) -> tuple[str, str] | None:
    """Read `Type: message` or a bare type; None where the words are no such line.

    `sure` asks for a name that can only be an exception's, for places where other text may stand.
    """
    if not words or not (words[0].isalpha() or words[0] == "_"):
        return None
    match = _FINAL.match(words)
    if match is None:
        return None
    name = match[1]
    last = name.rpartition(".")[2]
    if last in _NOT_TYPES and (sure or last != "Error" or "." not in name):  # `lmdb.Error` is a type
        return None
    if not _KNOWN.fullmatch(last):
        dotted = "." in name
        if sure or not last[0].isupper() or (last.isupper() and len(last) > 1) or not (dotted or match[3]):
            return None
    return name + (match[2] or ""), match[4] or ""


def headless(words: str) -> tuple[str, str] | None:
    """Read `Type: message` where no head says that a traceback begins: the type must be one beyond doubt."""
    if dotted := _DOTTED.fullmatch(words):
        return dotted[1], dotted[2] or ""
    if ":" not in words:
        return None
    tight = _TIGHT.fullmatch(words)
    found = exception_of(f"{tight[1]} {tight[2]}" if tight else words, sure=True)
    if found is None:
        return None
    last = found[0].partition("(")[0].rpartition(".")[2]
    return found if _PLAIN.fullmatch(last) and (last != "error" or "." in found[0]) else None


def printed(words: str) -> tuple[str, str] | None:
    """Read words that are nothing but an exception as `repr` writes it: `RuntimeError('CUDA error: …')`.

    Returns its type and its text, in which line ends are real ones.
    """
    match = _REPR.match(words)
    if match is None or match.end() < len(words.rstrip(" .,;")) or not _PLAIN.fullmatch(match[1].rpartition(".")[2]):
        return None
    text = match[3] if match[3] is not None else match[4]
    text = text.replace("\\n", "\n").replace("\\'", "'").replace('\\"', '"')
    return match[1], f"[Errno {match[2]}] {text}" if match[2] else text


def reported(words: str) -> tuple[str, str] | None:
    """Read an exception that a line ends with, in `repr`'s form, behind words that report a failure."""
    found = printed(words)
    if found is not None:
        return found
    opened = _OPENS.search(words, 0, 400)
    if opened is None:
        return None
    begin = opened.start()
    before = words[:begin]
    if not _REPORTS.match(before) or _SOFTENS.search(before):
        return None
    return printed(words[begin:])


def glued(words: str) -> tuple[str, str] | None:
    """Read a statement that another rank's bare exception was printed behind: `assert a == b, textAssertionError`."""
    match = _GLUED.fullmatch(words)
    return (match[2], match[1]) if match else None


def debugged(words: str) -> str | None:
    """Read the type in the line with which an editor's debugger announces an exception."""
    match = _DEBUGGED.fullmatch(words)
    return match[1] if match else None


def is_other(words: str) -> bool:
    """Do these words clearly begin something else than more of an exception's message?"""
    return _OTHER.match(words) is not None


def goes_on_after_blank(words: str) -> bool:
    """Can these words go on a message behind an empty line?"""
    return _AFTER_BLANK.match(words) is not None
