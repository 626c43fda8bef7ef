"""Says whether to start the job again, and how."""

from __future__ import annotations

from diagnose.catalogue.model import Catalogue
from diagnose.reason.incident import Group
from diagnose.reason.result import Action, Finding, Verdict

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


def action_for(verdict: Verdict, root: Finding | None, group: Group | None, catalogue: Catalogue) -> Action:
    """Advise on the restart: the pattern's own advice, with the nodes that reported the failure where it says so."""
    if verdict == "no_failure":
        return Action("unknown", "unknown", (), "Nothing failed.")
    if root is None or group is None:
        return Action("unknown", "unknown", (), "The cause is not known.")
    pattern = catalogue.patterns.get(root.pattern)
    if pattern is None:
        scope = _SCOPES.get(root.category, "unknown")
        return Action("unknown", scope, (), "No pattern knows this failure.")  # type: ignore[arg-type]
    rule = pattern.action
    nodes: tuple[str, ...] = ()
    if rule.exclude_node:
        named = {each.event.captures.get("node") or each.node for each in group.incidents if each.event}
        nodes = tuple(sorted(node for node in named if node))
    scope = rule.scope if rule.scope != "unknown" else _SCOPES.get(root.category, "unknown")
    restart = rule.restart if verdict != "ambiguous" else "unknown"
    return Action(restart, scope, nodes, rule.why)  # type: ignore[arg-type]
