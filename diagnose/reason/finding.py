"""Asks a pattern's checks, decides its causes and fixes, and writes the finding."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.catalogue.condition import Outcome, Seen, evaluate
from diagnose.catalogue.model import CauseRule, CheckRule, FixRule, Lines, Pattern
from diagnose.catalogue.template import render
from diagnose.classes import replace
from diagnose.read.model import Evidence
from diagnose.reason import words
from diagnose.reason.result import Cause, Check, Confidence, Cost, Finding, Fix
from diagnose.reason.scope import EventScope

# Which frameworks' lines to paste suit which framework; what is not listed suits all.
_FRAMEWORK_TARGETS = ("bridge", "megatron-lm", "nemo", "deepspeed", "accelerate")
_SUITS = {
    "megatron-bridge": {"bridge"},
    "megatron-lm": {"megatron-lm"},
    "nemo": {"nemo", "bridge"},
    "deepspeed": {"deepspeed", "accelerate"},
    "transformers": {"deepspeed", "accelerate"},
    "accelerate": {"deepspeed", "accelerate"},
    "lightning": {"deepspeed"},
    "torchtitan": set(),
    "verl": {"bridge", "megatron-lm", "deepspeed"},
    "jax": set(),
    "megatron-core": {"bridge", "megatron-lm"},
}
_MEGATRON = ("megatron-bridge", "megatron-lm", "nemo", "megatron-core", "verl")
_NAMES = {
    "bridge": "Megatron Bridge",
    "megatron-lm": "Megatron-LM",
    "nemo": "NeMo",
    "deepspeed": "DeepSpeed",
    "accelerate": "Accelerate",
}


def make_finding(
    pattern: Pattern, scope: EventScope, evidence: Sequence[Evidence], confidence: Confidence, why: str, framework: str
) -> Finding:
    """Write the finding of one pattern for one event."""
    checks = tuple(_check(rule, scope) for rule in pattern.checks)
    causes = tuple(_cause(rule, scope) for rule in pattern.causes)
    if len(causes) == 1 and pattern.category == "config" and scope.event and causes[0].state == "possible":
        # A validator prints its complaint where its one condition holds, and nowhere else.
        causes = (replace(causes[0], state="confirmed", why="the program's own check says so"),)
    fixes = tuple(_fix(rule, number, scope, framework) for number, rule in enumerate(pattern.fixes, 1))
    event = scope.event
    title = pattern.title
    if event is not None and event.alternative < len(pattern.match):
        title = pattern.match[event.alternative].title or title
    return Finding(
        pattern=pattern.id,
        title=title,
        category=pattern.category,
        role="root" if pattern.role == "confirmation" else pattern.role,
        confidence=confidence,
        why=why,
        evidence=tuple(evidence),
        summary=(render(pattern.summary, scope) if pattern.summary else None) or title,
        captures=dict(event.captures) if event else {},
        causes=causes,
        checks=checks,
        fixes=fixes,
        references=pattern.references,
    )


def _check(rule: CheckRule, scope: EventScope) -> Check:
    outcome = evaluate(rule.when, scope) if rule.when else None
    answer = outcome.answer if outcome else None
    if outcome is None or answer is None:
        return Check(rule.id, rule.question, "unknown", rule.look)
    seen = Outcome(answer, dict(outcome.used))
    observed = render(rule.observed, scope, seen) if rule.observed else words.facts(outcome)
    evidence = words.lines(seen.used.values())
    scope.answers[rule.id.replace("-", "_")] = Seen(answer, evidence[0] if evidence else None)
    return Check(rule.id, rule.question, "yes" if answer else "no", (observed or "").strip(), evidence)


def _cause(rule: CauseRule, scope: EventScope) -> Cause:
    if not rule.when:
        return Cause(rule.id, rule.text, "possible")
    outcome = evaluate(rule.when, scope)
    if outcome.answer is None:
        return Cause(rule.id, rule.text, "possible", _unknown(outcome))
    return Cause(rule.id, rule.text, "confirmed" if outcome.answer else "ruled_out", words.facts(outcome))


def _unknown(outcome: Outcome) -> str:
    names = [name for name in outcome.missing if not name.startswith(("let.", "check.", "capture."))]
    return f"not known: {', '.join(words.bare(name) for name in names[:4])}" if names else ""


def _fix(rule: FixRule, order: int, scope: EventScope, framework: str) -> Fix:
    how = tuple(text for part in rule.how for text in _lines(part, scope, framework))
    cost = Cost(rule.cost.text, rule.cost.workload, rule.cost.source) if rule.cost else None
    warning = rule.warning
    if warning and rule.warn_when and evaluate(rule.warn_when, scope).answer is False:
        warning = ""
    fix = Fix(rule.id, order, rule.text, how, cost=cost, warning=warning, references=rule.references)
    if _foreign(rule, framework):
        return _with(fix, "not_applicable", f"it is a setting of {_owners(rule)}; the run uses {framework}")
    return _state(rule, fix, scope)


def _foreign(rule: FixRule, framework: str) -> bool:
    """Tell whether a fix has lines for Megatron only, and the run is of something else."""
    suits = _SUITS.get(framework)
    if suits is None or framework in _MEGATRON:
        return False
    own = {part.target for part in rule.how if part.target in _FRAMEWORK_TARGETS}
    anywhere = any(part.target not in _FRAMEWORK_TARGETS and not part.when for part in rule.how)
    return bool(own) and not own & suits and not anywhere


def _owners(rule: FixRule) -> str:
    return " and ".join(_NAMES[name] for name in dict.fromkeys(part.target for part in rule.how) if name in _NAMES)


def _state(rule: FixRule, fix: Fix, scope: EventScope) -> Fix:
    applies = evaluate(rule.when, scope) if rule.when else None
    if applies is not None and applies.answer is False:
        return _with(fix, "not_applicable", words.facts(applies))
    done = evaluate(rule.unless, scope) if rule.unless else None
    if done is not None and done.answer:
        places = sorted({words.origin(seen) for key, seen in done.used.items() if not key.startswith("let.")} - {""})
        text = words.facts(done)
        return _with(fix, "already_applied", f"{text} ({', '.join(places)})" if text and places else text)
    if rule.avoid and evaluate(rule.avoid, scope).answer:
        return replace(_with(fix, "not_applicable", rule.avoid_why), forbidden=True)
    if applies is not None and applies.answer is None:
        return _with(fix, "unknown", _unknown(applies))
    return fix


def _with(fix: Fix, state: str, why: str) -> Fix:
    return replace(fix, state=state, why=why)  # type: ignore[arg-type]


def _lines(part: Lines, scope: EventScope, framework: str) -> list[str]:
    """Return the lines to paste that suit the run's framework and release, each with what it holds for."""
    suits = _SUITS.get(framework)
    if suits is not None and part.target in _FRAMEWORK_TARGETS and part.target not in suits:
        return []
    holds = ""
    if part.when:
        answer = evaluate(part.when, scope).answer
        if answer is False:
            return []
        holds = part.holds if answer is None else ""
    several = suits is None or len(suits) > 1
    label = _NAMES.get(part.target, "") if several else ""
    note = "; ".join(each for each in (label, holds) if each)
    lines = [_filled(line, scope) for line in part.lines]
    if len(lines) > 1 and note:
        return [f"# {note}", *lines]
    return [f"{line}  # {note}" if note else line for line in lines]


def _filled(line: str, scope: EventScope) -> str:
    return render(line, scope, pasted=True) or line
