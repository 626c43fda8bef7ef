"""`diagnose watch k8s`: follow a Kubernetes cluster."""

from __future__ import annotations

import click

from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.deliver.k8s.watch import Seen


@click.command("k8s")
@click.option("-n", "--namespace", "namespaces", multiple=True, metavar="NAME", help="Repeatable. Default: all.")
@click.option("--kubeconfig", metavar="FILE", help="Default: the pod's own account, $KUBECONFIG, ~/.kube/config.")
@click.option("--context", metavar="NAME", help="The context of the kubeconfig.")
@click.option("--cluster", metavar="NAME", default="", help="What messages call the cluster.")
@click.option("--interval", type=click.FloatRange(5, 3600), default=20.0, show_default=True, help="Seconds.")
@click.option("--oldest", type=click.FloatRange(0.1), default=24.0, show_default=True, help="Hours to look back.")
@click.option("--once", is_flag=True, help="Look once and leave.")
@click.option("--ledger", metavar="FILE", help="Remembers what was diagnosed. Default: in the user's state folder.")
@click.option("--settings", metavar="FILE", help="The configuration file, in place of the one that is found.")
def command(
    namespaces: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    cluster: str,
    interval: float,
    oldest: float,
    once: bool,
    ledger: str | None,
    settings: str | None,
) -> int:
    """Diagnose every Job, JobSet, TrainJob and PyTorchJob that fails, and every workload that Kueue evicts, once.

    Prints a line a failure; notifications go where the configuration says. Needs the extra [k8s]; without it,
    `kubectl logs POD | diagnose log -` works.
    """
    from diagnose.commands.errors import CommandError
    from diagnose.deliver.k8s.api import Cluster, KubernetesError, connect
    from diagnose.deliver.k8s.watch import Watch
    from diagnose.deliver.ledger import Ledger
    from diagnose.deliver.slurm.watch import default_ledger

    path = ledger or default_ledger().replace("watch-slurm", "watch-k8s")
    try:
        watch = Watch(
            Cluster(connect(kubeconfig, context)),
            Ledger(path),
            namespaces=namespaces,
            name=cluster,
            settings=settings,
            oldest=oldest * 3600,
        )
        if not once:
            watch.follow(interval, _tell, _complain)
        for seen in watch.look():
            _tell(seen)
    except OSError as error:
        raise CommandError(f"the ledger {path} cannot be written: {error.strerror}; name another", 2) from None
    except KubernetesError as error:
        raise CommandError(str(error), 3) from error
    return 0


def _tell(seen: Seen) -> None:
    from diagnose.report.clean import flat

    failure, said = seen.failure, seen.announced
    words = f"{said.verdict}: {said.summary}" if said.verdict else "no diagnosis"
    name = f"{failure.kind.name} {failure.namespace}/{failure.name}"
    click.echo(flat(f"{name} {failure.reason} {failure.time}  {words}"))
    for problem in said.problems:
        _complain(f"{name}: {problem}")


def _complain(sentence: str) -> None:
    from diagnose.commands.errors import one_line

    click.echo(f"diagnose: warning: {one_line(sentence)}", err=True)
