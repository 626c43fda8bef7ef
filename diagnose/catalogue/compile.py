"""Matches one line against one alternative. Expressions are compiled when they are first needed."""

from __future__ import annotations

from diagnose.catalogue.model import Alternative
from diagnose.expressions import EXPRESSIONS, search_within
from diagnose.lazy import Lazy
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

SEARCH_SECONDS = 0.05
_TYPE = Lazy(r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)(?=: |:$|$)")


def compile_alternative(alternative: Alternative) -> Matcher:
    """Return the matcher of an alternative; nothing is compiled yet."""
    return Matcher(alternative)


def exception_name(body: str) -> str | None:
    """Return the last component of the type in `dotted.Type: message` (or a bare `Type`); None where there is none."""
    found = _TYPE.match(body)
    return found.group(1) if found else None


class Matcher:
    """Decides whether a line's body is this wording. What stands around the line is decided by the collector."""

    __slots__ = ("_compiled", "alternative")

    def __init__(self, alternative: Alternative) -> None:
        self.alternative = alternative
        self._compiled: dict[str, regex.Pattern[str] | None] = {}

    def search(self, body: str, exception: str | None = None) -> dict[str, str] | None:
        """Search a line's body.

        Arguments: the body, and the type of the exception whose message it is (dotted or not), where a traceback
        told it. Without one, an alternative that asks for a type wants the body to begin with it. Returns the named
        groups that took part, or None where the line is something else or the search takes longer than 0.05 s.
        """
        wanted = self.alternative
        if wanted.exception or wanted.context == "exception":
            name = exception.rpartition(".")[2] if exception is not None else exception_name(body)
            if not name or (wanted.exception and name not in wanted.exception):
                return None
        found = self.find(wanted.regex, body) if wanted.regex else {}
        if found is None or any(self.find(text, body) is not None for text in wanted.unless):
            return None
        return found

    def begins(self, body: str) -> bool:
        """Tell whether a line's body begins with this wording, and the wording alone is long enough to be sure."""
        compiled = self._compile(self.alternative.regex) if self.alternative.regex else None
        try:
            found = compiled.match(body, timeout=SEARCH_SECONDS, concurrent=False) if compiled else None
        except TimeoutError:
            return False
        return found is not None and found.end() >= 24

    def search_frame(self, frame: str) -> dict[str, str] | None:
        """Search one `file:line in function: code` with the alternative's `frame` expression."""
        return self.find(self.alternative.frame, frame)

    def find(self, expression: str, text: str) -> dict[str, str] | None:
        """Search a text with one of the alternative's expressions; returns its named groups, None without a match.

        An expression that does not compile, or that takes longer than 0.05 s, finds nothing.
        """
        compiled = self._compile(expression)
        if compiled is None:
            return None
        try:
            found = search_within(compiled, text, SEARCH_SECONDS)
        except TimeoutError:
            return None
        if found is None:
            return None
        return {name: value for name, value in found.groupdict().items() if value is not None}

    def _compile(self, expression: str) -> regex.Pattern[str] | None:
        if expression not in self._compiled:
            self._compiled[expression] = EXPRESSIONS.compiled(expression)
        return self._compiled[expression]
