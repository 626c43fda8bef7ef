"""Makes one ordered plan of what to try."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.classes import replace
from diagnose.reason.result import Finding, Fix


def plan_of(root: Finding | None, rivals: Sequence[Finding] = ()) -> tuple[Fix, ...]:
    """List all fixes that apply, in the order to try them.

    The order inside a pattern is kept. What is already set comes last, so that it is seen to be set; what does not
    apply is left out. The fixes of rivals follow those of the root.
    """
    seen: set[str] = set()
    todo: list[Fix] = []
    done: list[Fix] = []
    for finding in ([root] if root else []) + list(rivals):
        for fix in finding.fixes:
            if fix.id in seen or fix.state == "not_applicable":
                continue
            seen.add(fix.id)
            (done if fix.state == "already_applied" else todo).append(fix)
    return tuple(replace(fix, order=number) for number, fix in enumerate([*todo, *done], 1))
