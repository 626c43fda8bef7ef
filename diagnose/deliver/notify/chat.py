"""Sends to chats, pagers and mail through Apprise, with a text that fits each of them."""

from __future__ import annotations

import html
import json

from diagnose.deliver.notify.message import cut
from diagnose.deliver.notify.webhook import SendError
from diagnose.lazy import Lazy
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.deliver.notify.settings import Notifier

# Characters of the text, below what each service takes. Slack cuts a section at 3,000, Teams a card at about 28 KB,
# PagerDuty a summary at 1,024, Discord a message at 2,000, Telegram one at 4,096.
_LIMITS = {
    "slack": 2900,
    "msteams": 20_000,
    "workflow": 20_000,
    "workflows": 20_000,
    "pagerduty": 1000,
    "discord": 1800,
    "tgram": 3800,
    "mmost": 3800,
    "mmosts": 3800,
    "rocket": 1800,
    "rockets": 1800,
    "opsgenie": 14_000,
    "ntfy": 3800,
    "ntfys": 3800,
    "pover": 1000,
    "mailto": 60_000,
    "mailtos": 60_000,
}
_LIMIT = 1500  # of services that are not listed
_ENCODED = frozenset(
    ("msteams", "workflow", "workflows")
)  # whose limit is one of bytes, of the JSON that holds the text
_MENTION = Lazy(r"(?<![\w.])@(?=\w)")


def check() -> str:
    """Say what is missing for sending, "" where nothing is."""
    from importlib.util import find_spec

    return "" if find_spec("apprise") else "Apprise is not installed; pip install 'train-diagnose[notify]'"


def limit_of(url: str) -> int:
    """Give the characters that the service behind an Apprise URL takes."""
    return _LIMITS.get(url.partition("://")[0].lower(), _LIMIT)


def fit(text: str, url: str, taken: int) -> str:
    """Cut a text to what the service behind an Apprise URL takes, where `taken` characters are used already."""
    limit = limit_of(url) - taken
    fitted = cut(text, limit)
    if url.partition("://")[0].lower() in _ENCODED:
        while (size := len(json.dumps(fitted))) > limit:
            fitted = cut(fitted, min(len(fitted) - 3, len(fitted) * limit // size))
    return fitted


def send(notifier: Notifier, heading: str, text: str, *, bad: bool) -> None:
    """Send once; raises SendError.

    Arguments: the notifier, whose `url` is an Apprise URL; the title; the text; whether it is a failure.
    """
    missing = check()
    if missing:
        raise SendError(missing, again=False)
    import logging

    import apprise

    # Its warnings name the URL, and a URL here is a secret.
    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    # No pictures from elsewhere: a message must not make its readers' programs call a third party.
    asset = apprise.AppriseAsset(app_id="diagnose", app_desc="diagnose", image_url_mask="", image_path_mask="")
    box = apprise.Apprise(asset=asset)
    if not box.add(notifier.url):
        raise SendError("Apprise does not know this URL; see its list of services", again=False)
    mail = notifier.url.lower().startswith("mailto")
    fitted = fit(text, notifier.url, len(heading) + 2)  # some services put both into one field
    sent = box.notify(
        title=heading if mail else _quiet(heading),
        body=f"<pre>{html.escape(fitted)}</pre>" if mail else _quiet(fitted),
        body_format=apprise.NotifyFormat.HTML if mail else apprise.NotifyFormat.TEXT,
        notify_type=apprise.NotifyType.FAILURE if bad else apprise.NotifyType.WARNING,
    )
    if not sent:
        raise SendError("the service refused the message or cannot be reached", again=True)


def _quiet(text: str) -> str:
    """Break mentions: a log that says @everyone must call nobody."""
    return _MENTION.sub("@\u200b", text)
