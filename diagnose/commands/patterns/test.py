"""`diagnose patterns test`: runs the samples of the pattern files through the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import click

from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.catalogue.model import Catalogue, Pattern, Sample
    from diagnose.facts.model import Event


@click.command("test")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--patterns", "extra", multiple=True, metavar="DIR", help="More patterns, a folder or a file. Repeatable."
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing where all is well.")
def command(ids: tuple[str, ...], extra: tuple[str, ...], quiet: bool) -> int:
    """Run the samples of patterns: of those named, or of all. Exits with 4 where one fails."""
    from functools import partial
    from pathlib import Path

    from diagnose.api import match_text
    from diagnose.catalogue import load
    from diagnose.commands.output import write
    from diagnose.facts.collect import prepare
    from diagnose.report.clean import safe
    from diagnose.report.words import plural

    catalogue = load(extra=[Path(path) for path in extra])
    chosen = [_named(catalogue, id) for id in ids] or sorted(catalogue.patterns.values(), key=lambda item: item.id)
    match = partial(match_text, catalogue=catalogue, probe=prepare(catalogue))
    samples = sum(len(pattern.samples_match) + len(pattern.samples_no_match) for pattern in chosen)
    failures = [f"{pattern.id}: {failure}" for pattern in chosen for failure in failures_of(pattern, match)]
    counted = f"{plural(samples, 'sample')} of {plural(len(chosen), 'pattern')}"
    if failures:
        write("\n".join([*map(safe, failures), f"{plural(len(failures), 'failure')} in {counted}"]) + "\n")
        return 4
    if not quiet:
        write(f"{counted}: all is well\n")
    return 0


def _named(catalogue: Catalogue, id: str) -> Pattern:
    from diagnose.commands.errors import CommandError, did_you_mean

    found = catalogue.patterns.get(catalogue.aliases.get(id, id))
    if found is None:
        raise CommandError(f"no pattern is called {id}{did_you_mean(id, list(catalogue.patterns))}", 2)
    return found


def failures_of(pattern: Pattern, match: Callable[[str], list[Event]]) -> Iterator[str]:
    """Run one pattern's samples through `match` and say, in a sentence each, which did not do what they should."""
    for number, sample in enumerate(pattern.samples_match, 1):
        events = [event for event in match(sample.text) if event.pattern == pattern.id]
        failure = _wrong(sample, events)
        if failure:
            yield f"match sample {number} {failure}: {_first_line(sample)}"
    for number, sample in enumerate(pattern.samples_no_match, 1):
        events = [event for event in match(sample.text) if event.pattern == pattern.id]
        if events:
            yield f"no_match sample {number} matched by alternative {events[0].alternative + 1}: {_first_line(sample)}"


def _wrong(sample: Sample, events: list[Event]) -> str:
    """Say what is wrong with the best of the events, or an empty text."""
    if not events:
        return "did not match"
    complaints = [_complaint(sample, event) for event in events]
    return "" if "" in complaints else complaints[0]


def _complaint(sample: Sample, event: Event) -> str:
    for name, wanted in sample.expect.items():
        got = event.captures.get(name)
        if got != wanted:
            return f"captured {name} = {got!r} in place of {wanted!r}"
    if sample.line and sample.line not in event.evidence.text:
        return f"took line {event.evidence.line} for the evidence, not the one with {sample.line!r}"
    return ""


def _first_line(sample: Sample) -> str:
    return sample.text.strip().partition("\n")[0][:100]
