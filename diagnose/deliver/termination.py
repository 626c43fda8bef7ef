"""Kubernetes' termination message: what `kubectl describe pod` shows of a container that ended."""

from __future__ import annotations

import os
from collections.abc import Mapping

from diagnose.report.clean import flat
from diagnose.report.words import fixes, place, roots
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.reason.result import Diagnosis

PLACE = "/dev/termination-log"
LIMIT = 4096  # bytes; Kubernetes cuts what is longer


def termination_file(environment: Mapping[str, str] = os.environ) -> str:
    """Return the file for the message, "" where there is none: outside of Kubernetes."""
    path = environment.get("TERMINATION_LOG") or PLACE
    return path if os.path.isfile(path) else ""


def termination_message(diagnosis: Diagnosis) -> str:
    """Say in a few lines what failed, where it stands, and the first fix; at most 4096 bytes of UTF-8."""
    found = roots(diagnosis)
    lines = [flat(diagnosis.summary)]
    if found and found[0].evidence:
        evidence = found[0].evidence[0]
        lines.append(flat(f"{place(evidence)}: {evidence.text[:600]}"))
    first = next((fix for fix in fixes(diagnosis) if fix.state == "recommended"), None)
    if first is not None:
        lines.append(flat(f"Fix: {first.text}"))
        lines += [flat(line) for line in first.how[:4]]
    if found:
        lines.append(f"verdict {diagnosis.verdict}, pattern {found[0].pattern}")
    return "\n".join(lines).encode("utf-8", "replace")[:LIMIT].decode("utf-8", "ignore")


def write_termination(path: str, text: str) -> None:
    """Write the message over what stands there; raises OSError."""
    # The file is a mount: it can be written, not replaced.
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
