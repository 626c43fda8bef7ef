"""One diagnosis to be made and announced, as it is handed to a process of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from diagnose.classes import dataclass, field
from diagnose.deliver.model import Event
from diagnose.typed import Any


@dataclass(frozen=True, slots=True)
class Text:
    """A source that lies in no file."""

    path: str  # as it is shown
    content: str
    kind: str = "log"  # a value of read.model.Kind
    node: str = ""  # host that it comes from


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be read, and where the answer goes."""

    event: Event
    paths: tuple[str, ...] = ()  # files, folders, globs
    texts: tuple[Text, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)  # path as it is opened -> path as it is shown
    owner: int | None = None  # only files of this user id are read; for hooks that run with more rights than the user
    settings: str | None = None  # configuration file, where one was named
    patterns: tuple[str, ...] = ()  # folders of further patterns
    report: str = ""  # BASE.json and BASE.md are written; "" writes none
    termination: str = ""  # Kubernetes' termination message; "" writes none
    width: int = 100  # columns of the text
    color: bool = False
    notify: bool = True
    quiet_if_healthy: bool = False  # True: nothing is written or sent where nothing failed

    def to_json(self) -> str:
        """Write it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Task:
        """Read what `to_json` wrote."""
        data: dict[str, Any] = json.loads(text)
        event = data.pop("event")
        event["paths"] = tuple(event["paths"])
        data["texts"] = tuple(Text(**each) for each in data["texts"])
        data["paths"], data["patterns"] = tuple(data["paths"]), tuple(data["patterns"])
        return cls(event=Event(**event), **data)


@dataclass(frozen=True, slots=True)
class Announced:
    """What came of it, for whoever asked."""

    verdict: str = ""  # "" where no diagnosis was made
    summary: str = ""
    text: str = ""  # the report for a terminal
    markdown: str = ""
    problems: tuple[str, ...] = ()  # sentences: what could not be written, sent or read
