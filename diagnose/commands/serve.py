"""`diagnose serve`: receive failure notifications over HTTP."""

from __future__ import annotations

import click


@click.command()
@click.option("--host", metavar="ADDRESS", help="Where to listen. Default: 127.0.0.1.")
@click.option("--port", type=click.IntRange(1, 65_535), help="Default: 8377.")
@click.option("--root", "roots", multiple=True, metavar="DIR", help="Open logs below DIR. Repeatable.")
@click.option("--database", metavar="FILE", help="Where requests and answers are kept. Default: diagnose.sqlite.")
@click.option("--workers", type=click.IntRange(1, 64), help="Diagnoses at the same time. Default: 2.")
@click.option("--settings", "path", metavar="FILE", help="A configuration file other than diagnose.yaml.")
def serve(
    host: str | None,
    port: int | None,
    roots: tuple[str, ...],
    database: str | None,
    workers: int | None,
    path: str | None,
) -> None:
    """Receive failures from Alertmanager, NVRx, CloudEvents or a JSON call, and diagnose them.

    Callers show the token that stands in the section `serve` of diagnose.yaml, or in DIAGNOSE_TOKEN. Without one only
    this machine is served. Only logs below the roots are ever opened.
    """
    import os
    from dataclasses import replace

    from diagnose.commands.errors import CommandError
    from diagnose.deliver.serve.run import StartError, check
    from diagnose.deliver.serve.run import serve as run
    from diagnose.deliver.serve.settings import read_serve
    from diagnose.deliver.settings import load_settings

    file = load_settings(path)
    settings, troubles = read_serve(file.serve, notify=file.notify, patterns=file.patterns)
    for trouble in (*file.troubles, *troubles):
        hint = f"; {trouble.hint}" if trouble.hint else ""
        raise CommandError(f"{trouble.path}:{trouble.line}:{trouble.column}: {trouble.message}{hint}", 2)
    for root in roots:
        if not os.path.isdir(root):
            raise click.UsageError(f"--root {root} is no folder.")
    given = {"host": host, "port": port, "database": database, "workers": workers}
    settings = replace(
        settings,
        roots=(*settings.roots, *map(os.path.abspath, roots)),
        token=settings.token or os.environ.get("DIAGNOSE_TOKEN", ""),
        **{key: value for key, value in given.items() if value is not None},  # type: ignore[arg-type]
    )
    try:
        check(settings)
        click.echo(f"diagnose: serving on http://{settings.host}:{settings.port}", err=True)
        run(settings)
    except StartError as error:
        raise CommandError(str(error), 2) from error
