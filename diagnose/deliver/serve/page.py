"""The pages for people: recent diagnoses, and one of them. Everything that comes from a log is escaped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape

from diagnose.deliver.serve.store import Job
from diagnose.report.clean import flat, safe

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_STYLE = """
:root { color-scheme: light dark; --line: #8883; --dim: #777; --bad: #c0392b; --warn: #b7791f; --good: #2f855a; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 1100px; padding: 2rem 1.25rem; }
h1 { font-size: 1.3rem; margin: 0 0 .25rem; } p { margin: .25rem 0 1.25rem; color: var(--dim); }
table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--dim); font-weight: 500; }
th, td { padding: .55rem .75rem .55rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.when, td.job { white-space: nowrap; } td.what { overflow-wrap: anywhere; }
a { color: inherit; text-decoration-color: var(--line); } a:hover { text-decoration-color: currentColor; }
small { color: var(--dim); }
.tag { display: inline-block; font-size: .8rem; padding: 0 .5em; border: 1px solid; border-radius: 1em; }
.tag { white-space: nowrap; } .failure { color: var(--bad); } .degraded { color: var(--warn); }
.fine { color: var(--good); } .open { color: var(--dim); }
pre { font: 13px/1.5 ui-monospace, monospace; padding: 1rem; border: 1px solid var(--line); border-radius: 6px; }
pre { overflow-x: auto; }
"""
_TONES = {"degraded": "degraded", "no_failure": "fine"}


def recent(jobs: Sequence[Job], states: dict[str, int]) -> str:
    """Make the list, newest first."""
    counts = " · ".join(
        f"{states[name]} {name}" for name in ("queued", "running", "done", "failed") if states.get(name)
    )
    head = "<tr><th>When</th><th>Verdict</th><th>What failed first</th><th>Job</th></tr>"
    rows = "".join(map(_row, jobs))
    table = f"<table>{head}{rows}</table>" if rows else "<p>Nothing has been announced yet.</p>"
    older = f'<p><a href="/?before={jobs[-1].number}">Older</a></p>' if len(jobs) >= 50 else ""
    return _page("Recent diagnoses", f"<h1>Recent diagnoses</h1><p>{escape(counts)}</p>{table}{older}")


def one(job: Job, text: str) -> str:
    """Make the page of one diagnosis."""
    event = job.request.get("event") or {}
    known = " · ".join(f"{key.replace('_', ' ')} {value}" for key, value in event.items())
    logs = "".join(f"<br><small>{escape(safe(path))}</small>" for path in (job.request.get("paths") or [])[:20])
    body = text or (f"The diagnosis failed: {job.error}" if job.error else "Not diagnosed yet; look again in a moment.")
    links = f'<a href="/">All</a> · <a href="/v1/diagnoses/{job.id}">JSON</a>'
    return _page(
        job.summary or "Diagnosis",
        f"<p>{links}</p><h1>{_tag(job)} {escape(flat(event.get('name', '') or 'Diagnosis'))}</h1>"
        f"<p>{escape(flat(known))}{logs}</p><pre>{escape(safe(body))}</pre>",
    )


def _row(job: Job) -> str:
    event = job.request.get("event") or {}
    who = " ".join(filter(None, (event.get("job_id", ""), event.get("name", ""))))
    where = " · ".join(filter(None, (event.get("user", ""), event.get("cluster", ""))))
    text = job.summary or job.error or "waiting"
    pattern = f"<br><small>{escape(job.pattern)}</small>" if job.pattern else ""
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(job.created))
    return (
        f'<tr><td class="when">{when}</td><td>{_tag(job)}</td>'
        f'<td class="what"><a href="/d/{job.id}">{escape(flat(text)[:300])}</a>{pattern}</td>'
        f'<td class="job">{escape(flat(who)[:60])}<br><small>{escape(flat(where)[:60])}</small></td></tr>'
    )


def _tag(job: Job) -> str:
    word = job.verdict or ("error" if job.error else job.state)
    tone = _TONES.get(job.verdict, "failure") if job.verdict or job.error else "open"
    return f'<span class="tag {tone}">{escape(word.replace("_", " "))}</span>'


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(flat(title)[:120])} · diagnose</title><style>{_STYLE}</style></head><body>{body}</body></html>"
    )
