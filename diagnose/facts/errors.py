"""What can be wrong with the files of facts that a user hands in."""

from __future__ import annotations


class ConfigFileError(ValueError):
    """A file cannot be read as configuration; the text is `path:line:column: what is wrong. what to do`."""

    def __init__(self, path: str, what: str, hint: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"{path}:{line}:{column}: {what} {hint}")
        self.path, self.line, self.column, self.hint = path, line, column, hint
