"""Delivers a diagnosis: one message a failure to each notifier, all of them at once, never longer than agreed."""

from __future__ import annotations

import os
import threading
import time

from diagnose.deliver.model import Outcome
from diagnose.deliver.notify import letter
from diagnose.deliver.notify.fingerprint import failure_key
from diagnose.deliver.notify.ledger import Ledger, default_path
from diagnose.deliver.notify.settings import Notifier, read_notifiers
from diagnose.deliver.notify.webhook import SendError, attempts
from diagnose.deliver.redact import redact, redact_text
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.deliver.model import Event, NotifySettings
    from diagnose.reason.result import Diagnosis

_GRACE = 2.0  # seconds over a notifier's total that are waited for it
_DOWN = 60.0  # seconds after a failure in which only one attempt is made, so that a burst is not held up
_LEASE = 30.0  # seconds over a notifier's total in which nobody else sends a letter
_AT_ONCE = 20  # letters that are sent again in one go
_QUIET = frozenset(("no_failure",))


def deliver(diagnosis: Diagnosis, event: Event, settings: NotifySettings) -> list[Outcome]:
    """Tell every notifier of a failed job; secrets are masked first. Never raises.

    A failure that a notifier was told of inside its `window` is counted, and summed up when the window has passed.
    """
    try:
        notifiers, troubles = read_notifiers(settings.entries)
        bad = [Outcome("notify", False, f"{each.path}:{each.line}: {each.message}", 0) for each in troubles]
        wanted = [each for each in notifiers if _wanted(diagnosis, each)]
        return bad + _all(wanted, redact(diagnosis), redact(event))
    except Exception as error:  # whoever calls has a job's report to bring home
        return [Outcome("notify", False, f"{type(error).__name__}: {redact_text(str(error))}", 0)]


def _wanted(diagnosis: Diagnosis, notifier: Notifier) -> bool:
    return diagnosis.verdict not in _QUIET and (diagnosis.verdict != "degraded" or notifier.degraded)


def _all(notifiers: list[Notifier], diagnosis: Diagnosis, event: Event) -> list[Outcome]:
    found: dict[str, Outcome] = {}

    def run(notifier: Notifier) -> None:
        try:
            found[notifier.name] = _one(notifier, diagnosis, event)
        except Exception as error:
            found[notifier.name] = Outcome(notifier.name, False, f"{type(error).__name__}: {redact_text(str(error))}")

    # Daemons, so that a receiver which drips its answer byte by byte holds up neither the others nor the exit.
    threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in notifiers]
    for thread in threads:
        thread.start()
    started = time.monotonic()
    for notifier, thread in zip(notifiers, threads, strict=True):
        thread.join(max(0.0, started + notifier.total + _GRACE - time.monotonic()))
    late = {each.name: Outcome(each.name, False, f"no answer in {each.total:.0f} s") for each in notifiers}
    return [found.get(each.name, late[each.name]) for each in notifiers]


def _one(notifier: Notifier, diagnosis: Diagnosis, event: Event) -> Outcome:
    ledger = Ledger(notifier.ledger or default_path())
    failure, now = failure_key(diagnosis, event), time.time()
    before: int | None = 0
    counted, down = True, False
    try:
        down = ledger.is_down(notifier.name, now, _DOWN)
        before = ledger.claim(notifier.name, failure, now, notifier.window, diagnosis.summary)
    except OSError:
        counted = False  # better told twice than never
    if before is None:
        if not down:
            _catch_up(notifier, ledger, now, event)
        return Outcome(notifier.name, True, attempts=0)
    message = letter.write(notifier, diagnosis, event, before)
    if counted:
        try:
            # Written down before it is sent: if this process ends meanwhile, another one sends it.
            ledger.owe(notifier.name, failure, message, now, notifier.total + _LEASE)
        except OSError:
            counted = False
    tried, error = attempts(
        lambda timeout: letter.send(notifier, message, timeout),
        total=notifier.total,
        timeout=notifier.timeout,
        most=1 if down else 6,
    )
    if counted:
        try:
            ledger.mark(notifier.name, now, ok=not error)
            if error:
                ledger.release(notifier.name, failure, before)
                ledger.put_off(notifier.name, failure, message.id, time.time())
            else:
                ledger.paid(notifier.name, failure, message.id, now)
                _catch_up(notifier, ledger, now, event)
        except OSError:
            return Outcome(notifier.name, not error, error, tried)
    return Outcome(notifier.name, not error, error, tried)


def repay(settings: NotifySettings) -> None:
    """Try again what could not be sent, where its time has come; for whoever runs for long. Never raises."""

    def run(notifier: Notifier) -> None:
        path = notifier.ledger or default_path()
        try:
            if os.path.exists(path):
                _send_owed(notifier, Ledger(path))
        except Exception:
            return  # the ledger keeps it, and the next turn tries again

    try:
        for each in read_notifiers(settings.entries)[0]:
            thread = threading.Thread(target=run, args=(each,), daemon=True)
            thread.start()
            thread.join(each.total)  # a receiver that drips its answer holds its own thread up, and nobody else
    except Exception:
        return


def _catch_up(notifier: Notifier, ledger: Ledger, now: float, event: Event) -> None:
    """Say what could not be said before, and how often failures came back; one attempt each, and never an error."""
    try:
        if not _send_owed(notifier, ledger):
            return
        repeats = ledger.due(notifier.name, now, notifier.window)
    except OSError:
        return
    for number, each in enumerate(repeats):
        try:
            letter.send(notifier, letter.sum_up(notifier, each, event), notifier.timeout)
        except SendError:
            for untold in repeats[number:]:
                ledger.restore(notifier.name, untold)
            return


def _send_owed(notifier: Notifier, ledger: Ledger) -> bool:
    """Send the letters whose time has come; False where the notifier takes none. Raises OSError."""
    for _ in range(_AT_ONCE):
        found = ledger.overdue(notifier.name, time.time(), notifier.total + _LEASE)
        if found is None:
            return True
        failure, message = found
        try:
            letter.send(notifier, message, notifier.timeout)
        except SendError:
            ledger.put_off(notifier.name, failure, message.id, time.time())
            return False
        ledger.paid(notifier.name, failure, message.id, time.time())
    return True
