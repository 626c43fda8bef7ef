"""One diagnosis in a process of its own, confined to the roots: what it meets can hurt nobody else."""

from __future__ import annotations

import json
import os
import pickle
import sys
import tempfile

from diagnose.classes import dataclass, field, replace
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diagnose.catalogue.model import Catalogue
    from diagnose.deliver.confinement import Confinement
    from diagnose.deliver.model import NotifySettings
    from diagnose.reason.result import Diagnosis


@dataclass(frozen=True, slots=True)
class Order:
    """What the server tells its worker process; both are this program, so it is pickled."""

    request: dict[str, Any]
    roots: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    notify: NotifySettings | None = None
    memory: int = 0  # bytes of address space; 0 sets no limit
    keywords: dict[str, Any] = field(default_factory=dict)


def main() -> None:
    """Read an Order from standard input, and write the answer as one line of JSON before anybody is notified."""
    order: Order = pickle.load(sys.stdin.buffer)
    # What a library prints must not be taken for the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    diagnosis, content = carry_out(order)
    answer.write(json.dumps(content) + "\n")
    answer.flush()
    if order.notify is not None and order.notify.entries:
        from diagnose.deliver.model import Event
        from diagnose.deliver.notify import deliver

        about = order.request.get("event") or {}
        event = Event("serve", **{**about, "paths": tuple(order.request.get("paths") or ())})
        outcomes = deliver(diagnosis, event, order.notify)
        answer.write(json.dumps({"problems": [f"{each.notifier}: {each.error}" for each in outcomes if not each.ok]}))
        answer.flush()


def carry_out(order: Order) -> tuple[Diagnosis, dict[str, Any]]:
    """Diagnose and mask; returns the diagnosis and what the server keeps of it."""
    from diagnose import __version__, api
    from diagnose.deliver.confinement import Confinement
    from diagnose.deliver.redact import redact
    from diagnose.deliver.serve.guard import Roots
    from diagnose.report.json import as_dict
    from diagnose.report.model import Context
    from diagnose.report.text import render

    _limit(order.memory)
    catalogue = api.load_catalogue(order.patterns)
    with tempfile.TemporaryDirectory(prefix="diagnose-") as folder:
        roots = Roots(order.roots)
        confinement = Confinement(roots.judge, roots.names + roots.real, [folder])
        diagnosis = redact(_diagnose(order, catalogue, folder, confinement))
    context = Context(__version__, len(catalogue.patterns), catalogue.digest, titles=_titles(diagnosis))
    root = diagnosis.root_cause
    return diagnosis, {
        "verdict": diagnosis.verdict,
        "pattern": root.pattern if root is not None else "",
        "summary": diagnosis.summary,
        "text": render(diagnosis, replace(context, width=110)),
        "result": as_dict(diagnosis, context),
    }


def _diagnose(order: Order, catalogue: Catalogue, folder: str, confinement: Confinement) -> Diagnosis:
    from diagnose import api
    from diagnose.read.model import Source

    request = order.request
    config = request.get("config")
    if isinstance(config, dict):
        config = os.path.join(folder, "config.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(request["config"], file)
    text = request.get("text") or ""
    extra = [Source("text", content=text.encode("utf-8", "replace"))] if text else []
    with confinement.on():
        return api.diagnose(
            request.get("paths") or [],
            config=config,
            settings=request.get("settings") or (),
            catalogue=catalogue,
            extra=extra,
            **order.keywords,
        )


def _titles(diagnosis: Diagnosis) -> dict[str, str]:
    roots = [] if diagnosis.root_cause is None else [diagnosis.root_cause]
    return {finding.pattern: finding.title for finding in (*roots, *diagnosis.alternatives)}


def _limit(memory: int) -> None:
    if memory:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    main()
