"""Secrets that are known by their shape or by the place they stand in, whatever their name."""

from __future__ import annotations

import re

from diagnose.deliver.secret_names import is_said, looks_random
from diagnose.lazy import Lazy

MASK = "[masked]"

# Prefixes that their makers document, so that leaked tokens can be found. The prefix stays: it says what to revoke.
_PREFIXED = Lazy(
    r"(?<![A-Za-z0-9_])(?:"
    r"(?P<a>hf_|api_org_|gh[pousr]_|do[opr]_v1_|npm_|dckr_pat_|lin_api_|r8_|gsk_|sk_live_|rk_live_)[A-Za-z0-9]{16,4096}(?![\w-])"
    r"|(?P<g>github_pat_|glpat-|gldt-|nvapi-|pypi-|wandb_v1_|xox[abcdeoprs]-|xapp-|ya29\.|AIza|SG\.|hvs\.|tgp_v1_|pul-)"
    r"(?=[\w.=-]{0,200}\d)[\w.=-]{14,4096}"
    r"|(?P<h>dapi)[0-9a-f]{32}"
    r"|(?P<b>sk-(?:proj-|ant-|or-|svcacct-)?)(?=[\w-]{0,60}\d)[\w-]{18,4096}"
    r"|(?P<c>A(?:KIA|SIA|ROA|IDA))[A-Z0-9]{12,128}"
    r"|(?P<d>eyJ)[\w-]{6,8192}\.[\w-]{6,8192}(?:\.[\w-]{0,8192}){0,3}"
    r"|(?P<e>local-)[0-9a-f]{40}"
    r"|(?P<f>\d{8,10}:)AA[\w-]{32,40})"
)
_PEM = Lazy(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = Lazy(r"(?:[A-Za-z0-9+/=\s]|\\[nr]){0,16384}")
_PEM_SIZE = 16_384  # characters of a key; longer ones are cut there
# A line that is nothing but base64 is a piece of a key or of a certificate, not something a program says.
_BASE64_LINE = Lazy(r"(?:^|(?<=[\s:|>]))([A-Za-z0-9+/]{60,76}={0,2})(?=[ \t]*$)", re.MULTILINE)
_HEADER = Lazy(
    r"((?:(?:proxy-)?authorization|x-api-key|x-auth-token|x-vault-token|private-token|api-key|(?:set-)?cookie)"
    r"""(?:\\{0,3}["'])?\s{0,3}[:=,]\s{0,3}(?:[bru]?\\{0,3}["'])?(?:(?:bearer|basic|token|digest|aws4-hmac-sha256|splunk)\s{1,3})?+)"""
    r"""(?!\[masked\])((?P<first>[^\s"'\\]++)[^\n"'\\]{0,4096})(?<=....)""",
    re.IGNORECASE,
)
_BEARER = Lazy(r"""\b(bearer\s{1,3})(?=[^\s"']{0,200}\d)[A-Za-z0-9._~+/=-]{12,4096}""", re.IGNORECASE)
_URL_USER = Lazy(
    r"""\b([a-z][a-z0-9+.-]{1,20}://)(?:([^\s/:@"'<>]{0,256}):(?!\[masked\]@)[^\s/"'<>]{1,1024}@|(?!\[masked\]@)[^\s/:@"'<>]{16,1024}@)""",
    re.IGNORECASE,
)
_URL_VALUE = Lazy(
    r"((?:[?&;]|%3F|%26|&amp;|\b(?=sig=|SharedAccessSignature|X-Amz-|X-Goog-|AccountKey|SharedAccessKey|SharedSecret))"
    r"(?:X-(?:Amz|Goog|Oss|Cos)-(?:Signature|Credential|Security-Token)|(?:x-)?signature|sig|sv?token|token|access_token|"
    r"id_token|refresh_token|api_?key|key|auth|password|secret|code|GoogleAccessId|AWSAccessKeyId|OSSAccessKeyId|"
    r"security-token|SharedAccessSignature|AccountKey|SharedAccessKey|SharedSecretIssuer|se?cret)"
    r"(?:=|%3D))(?!\[masked\])[^\s&\"'<>;]{4,4096}",
    re.IGNORECASE,
)
_WEBHOOK = Lazy(
    r"(https?://(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)|(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks"
    r"|[\w.-]{1,100}\.webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook|api\.telegram\.org|"
    r"open\.(?:feishu|larksuite)\.\w{2,3}/open-apis/bot/v2/hook|qyapi\.weixin\.qq\.com/cgi-bin/webhook)/)"
    r"""(?!\[masked\])[^\s"'<>]{4,2048}""",
    re.IGNORECASE,
)
_SPOKEN = Lazy(
    r"(\bmachine\s{1,3}\S{1,256}\s{1,8}login\s{1,3}\S{1,256}\s{1,8}password\s{1,3}"
    r"|\b(?:wandb|comet|neptune)\s{1,3}login\s{1,3}(?:--?[\w-]{1,40}(?:=\S{1,200})?\s{1,3}){0,4}"
    r"|\bsshpass\s{1,3}-p\s{0,3}|\bcurl\s[^\n]{0,400}?(?:-u|--user)\s{1,3}[\"']?[^\s:\"']{1,200}:"
    r"|\b(?:docker|podman|helm|skopeo|oras)\s[^\n]{0,200}?\s-p\s{1,3}|\bmysql(?:dump|admin)?\s[^\n]{0,200}?\s-p(?=\S)"
    r"|<\w{0,40}(?:password|secret|token)>(?=[^<\n]{1,1024}</)|\b(?:password|passphrase)\s{1,3}(?=[\"'])"
    r"|\b(?:identified\s{1,3}by)\s{1,3})(?!\[masked\])(?:\"[^\"\n]{1,1024}\"|'[^'\n]{1,1024}'|[^\s\"'-][^\s\"']{0,1024})",
    re.IGNORECASE,
)

# `Incorrect API key provided: …`, `token … is invalid`: words, and then something that looks like a key.
_TOLD = Lazy(
    r"(\b(?:(?:api|access|secret|auth|private)[ _-]{1,2}(?:key|token)|token|password|secret|credentials?)s?"
    r"(?:\s{1,3}(?:provided|given|is|was|value|id)){0,2}\s{0,3}[:=]?\s{1,3}[\"'`(\[<]{0,2})([\w+/=~.-]{12,512})",
    re.IGNORECASE,
)
_TELLERS = ("key", "token", "password", "secret", "credential")

# Every alternative of _SPOKEN holds one of these.
_SPEAKERS = ("login", "sshpass", "curl", "identified", " -p", "<", "password", "passphrase")


def mask_shapes(text: str) -> str:
    """Mask tokens with known prefixes, private keys, JWTs, headers, credentials in URLs, signed and webhook URLs."""
    if "PRIVATE KEY" in text:
        text = _keys(text)
    text = _BASE64_LINE.sub(_base64, text)
    if "://" in text:
        text = _WEBHOOK.sub(rf"\1{MASK}", text)
        text = _URL_USER.sub(_user, text)
    if "=" in text or "%3" in text:
        text = _URL_VALUE.sub(rf"\1{MASK}", text)
    text = _PREFIXED.sub(_prefix, text)
    lower = text.lower()
    if any(word in lower for word in ("authorization", "-key", "-token", "cookie")):
        text = _HEADER.sub(_header, text)
    if "bearer" in lower:
        text = _BEARER.sub(rf"\1{MASK}", text)
    if any(word in lower for word in _SPEAKERS):
        text = _SPOKEN.sub(rf"\1{MASK}", text)
    if any(word in lower for word in _TELLERS):
        text = _TOLD.sub(_told, text)
    return text


def _keys(text: str) -> str:
    """Mask what stands between the head of a private key and its end, or, where the log was cut, all its base64."""
    parts: list[str] = []
    done = 0
    while (head := _PEM.search(text, done)) is not None:
        if text.startswith(MASK, head.end()):
            parts.append(text[done : head.end()])
            done = head.end()
            continue
        end = text.find("-----END ", head.end(), head.end() + _PEM_SIZE)
        if end < 0:
            body = _PEM_BODY.match(text, head.end())
            end = head.end() if body is None else body.end()
        parts += [text[done : head.end()], MASK]
        done = end
    return "".join([*parts, text[done:]])


def _base64(match: re.Match[str]) -> str:
    kinds = (str.isdigit, str.islower, str.isupper)
    return MASK if all(any(map(kind, match[1])) for kind in kinds) else match[0]


def _told(match: re.Match[str]) -> str:
    value = match[2].rstrip(".")
    return f"{match[1]}{MASK}{match[2][len(value) :]}" if looks_random(value, hexadecimal=True) else match[0]


def _header(match: re.Match[str]) -> str:
    return match[0] if is_said(match["first"]) else f"{match[1]}{MASK}"


def _prefix(match: re.Match[str]) -> str:
    return f"{match[match.lastgroup or 0]}…{MASK}"


def _user(match: re.Match[str]) -> str:
    return f"{match[1]}{MASK}@" if match[2] is None else f"{match[1]}{match[2]}:{MASK}@"
