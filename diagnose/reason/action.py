"""Says whether to start the job again, and how."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.catalogue.model import Catalogue
from diagnose.reason.incident import Group
from diagnose.reason.result import Action, Attempt, Finding, Verdict

_SCOPES = {
    "config": "config",
    "gpu-memory": "config",
    "performance": "config",
    "code": "code",
    "compile": "code",
    "numerical": "code",
    "data": "data",
    "scheduler": "scheduler",
    "kubernetes": "scheduler",
    "gpu-hardware": "infrastructure",
    "node": "infrastructure",
    "network": "infrastructure",
    "storage": "infrastructure",
    "environment": "infrastructure",
}


_ON_A_NODE = ("gpu-hardware", "node", "cuda-error", "host-memory", "network")  # failures that stick to a node


def action_for(
    verdict: Verdict, root: Finding | None, group: Group | None, catalogue: Catalogue, attempts: Sequence[Attempt] = ()
) -> Action:
    """Advise on the restart: the pattern's own advice, with the nodes that reported the failure where it says so.

    `attempts` are the earlier ones of the job: the nodes whose hardware ended them are left out too, and a node that
    failed before is said.
    """
    if verdict == "no_failure":
        return Action("unknown", "unknown", (), "Nothing failed.")
    if root is None or group is None:
        return Action("unknown", "unknown", (), "The cause is not known.")
    pattern = catalogue.patterns.get(root.pattern)
    if pattern is None:
        scope = _SCOPES.get(root.category, "unknown")
        return Action("unknown", scope, (), "No pattern knows this failure.")  # type: ignore[arg-type]
    rule = pattern.action
    named: set[str | None] = {_node_of(each, catalogue) for each in attempts}
    if rule.exclude_node:
        named |= {each.event.captures.get("node") or each.node for each in group.incidents if each.event}
    again = _again(root, attempts)
    if again and root.category in _ON_A_NODE:
        named.add(root.evidence[0].node)
    nodes = tuple(sorted(node for node in named if node))
    scope = rule.scope if rule.scope != "unknown" else _SCOPES.get(root.category, "unknown")
    restart = rule.restart if verdict != "ambiguous" else "unknown"
    return Action(restart, scope, nodes, " ".join(filter(None, (rule.why, again))))  # type: ignore[arg-type]


def _node_of(attempt: Attempt, catalogue: Catalogue) -> str | None:
    """Return the node that ended an earlier attempt, where its pattern says that such a node is to be left out."""
    pattern = catalogue.patterns.get(attempt.pattern)
    return attempt.evidence.node if pattern is not None and pattern.action.exclude_node and attempt.evidence else None


def _again(root: Finding, attempts: Sequence[Attempt]) -> str:
    """Say that the node which failed now has failed before."""
    node = root.evidence[0].node if root.evidence else None
    before = [str(each.number) for each in attempts if node and each.evidence and each.evidence.node == node]
    return f"Node {node} also ended attempt {', '.join(before)}." if before else ""
