"""Tells whether two failures are the same one, for the people who are told of them."""

from __future__ import annotations

import hashlib
import re

from diagnose.lazy import Lazy
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.deliver.model import Event
    from diagnose.reason.result import Diagnosis

# A broken file system or network fails everybody's jobs at once: that is one failure. A mistake in a script is its
# owner's alone.
_SHARED = frozenset(("network", "gpu-hardware", "node", "storage", "scheduler", "kubernetes"))
# An optional [rank3]: or host: in front, addresses, hosts, paths, then every number.
_VARYING = Lazy(
    r"0x[0-9a-f]+|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{12,64}\b"
    r"|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b|(?:/[\w.+@%=-]+){2,}/?"
    r"|\b[a-z][a-z0-9]*(?:[-.][a-z0-9]+)*-?\d+(?:\.[a-z][a-z0-9-]*)+\b|\b(?:[a-z]+-)+\d+(?:-\d+)*\b"
    r"|\d+(?:[.:,/-]\d+)*",
    re.IGNORECASE,
)
_TASK = Lazy(r"[_\[+.-][\d\[\],%-]+\]?$")


def fingerprint(diagnosis: Diagnosis) -> str:
    """Name the root cause in 16 hex digits, the same on every rank, host, process, address and step.

    A known pattern stands for itself. What no pattern knows is told apart by its words, without what varies in them.
    """
    root = diagnosis.root_cause or next(iter(diagnosis.alternatives), None)
    parts = ["none", diagnosis.verdict]
    if root is not None:
        parts = [root.pattern, root.category]
        if root.pattern.startswith("unknown") and root.evidence:
            parts.append(_constant(root.evidence[0].text))
    elif diagnosis.fallout:
        parts = ["fallout", diagnosis.fallout[0].pattern]
    elif diagnosis.notes:
        parts.append(_constant(diagnosis.notes[-1].text))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def failure_key(diagnosis: Diagnosis, event: Event) -> str:
    """Name what one message is sent for: the root cause, and whose it is where it is not everybody's.

    The tasks of an array and the restarts of a job share one key.
    """
    root = diagnosis.root_cause
    owner: tuple[str, ...] = ()
    if root is None or root.category not in _SHARED:
        owner = (event.user, event.name or _TASK.sub("", event.job_id))
    text = "\0".join((fingerprint(diagnosis), event.cluster, *owner))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _constant(text: str) -> str:
    return " ".join(_VARYING.sub("#", text[:2000]).split())
