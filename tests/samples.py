"""Reads the headers of `samples/`: what a diagnosis of each log must find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[1] / "samples"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a header says. Values that may differ are separated by `|`."""

    path: Path  # the log, or the folder of logs
    verdict: tuple[str, ...]
    category: tuple[str, ...] = ()
    pattern: tuple[str, ...] = ()
    rank: tuple[str, ...] = ()
    node: str = ""
    root_line: int | None = None
    root_text: tuple[str, ...] = ()  # the root line is one of these
    fallout: tuple[str, ...] = ()  # pattern ids that must be called fallout
    notes: dict[str, str] = field(default_factory=dict)


def read_header(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the `#: key: value` lines that a log, or the `.expect` file beside a folder, begins with."""
    with path.open("rb") as file:
        for raw in file:
            if not raw.startswith(b"#: "):
                return
            key, _, value = raw.decode().rstrip("\n")[3:].partition(": ")
            yield key, value


def expected_of(path: Path) -> Expected:
    """Read one sample's header."""
    values: dict[str, list[str]] = {}
    for key, value in read_header(path):
        values.setdefault(key, []).append(value)

    def options(key: str) -> tuple[str, ...]:
        return tuple(values[key][0].split("|")) if key in values else ()

    line = values.get("root_line", [""])[0]
    return Expected(
        path=path.with_suffix("") if path.suffix == ".expect" else path,
        verdict=options("verdict"),
        category=options("category"),
        pattern=options("pattern"),
        rank=options("rank"),
        node=values.get("node", [""])[0],
        root_line=int(line) if line else None,
        root_text=tuple(values.get("root_text", ())),
        fallout=tuple(each.strip() for each in values.get("fallout", [""])[0].split(",") if each.strip()),
        notes={key: each[0] for key, each in values.items()},
    )


def all_samples() -> list[Expected]:
    """List every log that has a header, and every folder that has an `.expect` file."""
    folders = [path.with_suffix("") for path in SAMPLES.rglob("*.expect")]
    found = [expected_of(path) for path in sorted(SAMPLES.rglob("*.expect"))]
    for path in sorted(SAMPLES.rglob("*")):
        if path.is_file() and path.suffix != ".expect" and not any(folder in path.parents for folder in folders):
            expected = expected_of(path)
            if expected.verdict:
                found.append(expected)
    return found
