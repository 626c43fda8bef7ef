"""Which names stand for a secret, and which values are none."""

from __future__ import annotations

import re

from diagnose.lazy import Lazy
from diagnose.typed import Literal

Strength = Literal["strong", "weak", ""]

_CAMEL = Lazy(r"(?<=[a-z0-9])(?=[A-Z])")
_STRONG = Lazy(
    r"(?:^|_)(?:pass(?:word|wd|phrase|code)|secret|credential|private_key|bearer|cookie|connection_string|webhook)s?(?:_|$)"
    r"|(?:^|_)(?:api|access|secret|account|signing|encryption|auth|shared|master|ssh|license|storage|subscription|"
    r"deploy|client|service|wandb|comet|neptune|openai|anthropic|ngc|nvidia|hf|gpg|aes|hmac)_?keys?(?:_id)?$"
    r"|(?:^|_)(?:hf|huggingface|hugging_face|huggingfacehub|hub|auth|access|api|refresh|session|security|secret|wandb|"
    r"git|github|gitlab|gh|sas|slack|bot|ngc|nvidia|openai|replicate|mlflow|comet|neptune|clearml|vault|consul|kube|"
    r"registry|npm|pypi|twine|user|service|deploy|personal|oauth2?|jwt|csrf|xsrf|private|aws|azure|gcp|google|client|"
    r"admin|webhook|join|bootstrap)_?token$"
)
_UPPER = Lazy(r"[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASS|PASSWD|PASSWORD|CREDENTIALS?|_PWD)")
_WEAK = Lazy(r"(?:^|_)(?:token|key|signature|sig|auth|pwd)$")
# Tokens of a vocabulary, keys of a cache: the words that models and programs use for other things.
_ORDINARY = Lazy(
    r"(?:^|_)(?:pad|eos|bos|unk|mask|cls|sep|eod|special|image|video|audio|next|stop|start|end|max|min|num|per|first|last|"
    r"reserved|think|tool|prefix|suffix|public|primary|foreign|sort|cache|partition|group|routing|dict|state|query)_"
    r"(?:token|key)s?$|_(?:file|path|dir|env|name|type|len|length|size|count|idx|index|mode|format|ttl|timeout|"
    r"error|exception|warning)s?$"
)
_LIBRARIES = Lazy(r"(?:NCCL|CUDA|PYTORCH|NVTE|TORCH|NVSHMEM|UCX|OMPI|PMIX|TOKENIZERS)_")
_NONE = Lazy(
    r"|none|null|nil|true|false|yes|no|unset|not set|hidden|redacted|\*+|x{3,}|\.{3,}|<[^>]*>|%s|\{\w*\}"
    r"|\$(?:\{[^}]*\}|\([^)]*\)|[a-z_]\w*)|\[masked\]",
    re.IGNORECASE,
)
# What is said about a secret: `password: authentication failed`, `credentials: expired`.
_SAID_WORDS = (
    "a access absent an and are authentication authorization bad be being by cannot could denied did does empty enter "
    "error exception expired failed failure file for forbidden from has have header in incorrect invalid is login "
    "malformed may mismatch missing must no none not of ok on or permission please prompt refresh refused rejected "
    "required revoked run set should the this to too unable unauthorized unavailable unknown unset unsupported use "
    "user using validation was were with wrong you your"
)
_SAID = frozenset(_SAID_WORDS.split())
_EXCEPTION = Lazy(r"[A-Z]\w*(?:Error|Exception|Warning)")
# Where a program's own line is shown, the value is what it computes: os.environ["X"], args.token, getenv(…).
_CODE = Lazy(
    r"(?:os|self|args|cfg|config|settings|env|kwargs|opts|options|hparams|FLAGS)(?:\.[A-Za-z_]\w*)+(?:[(\[].*)?"
    r"|(?:getenv|getattr|getpass|input|str|len|repr)\(.*",
    re.DOTALL,
)
_PATH = Lazy(r"~?(?:/[\w.@+-]+){2,}/?|\.{1,2}(?:/[\w.@+-]+)+/?")
_KEY_LIKE = Lazy(r"(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])\w{16,}")
_UUID = Lazy(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_RANDOM = Lazy(r"(?=[^0-9]*[0-9][^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9+/=_~.-]{12,4096}")
_WORDS = Lazy(r"[./~]|[a-z0-9]*[a-z][a-z0-9]*(?:[._/-][A-Za-z0-9]+)+$|(?:0x)?[0-9a-f]+$|[\d.e+-]+$")


def strength(name: str, *, option: bool = False) -> Strength:
    """Say how surely something of this name is a secret: `strong`, `weak` (look at the value) or not at all.

    `option` is true for an option on a command line, `--token`: its value is what was handed in.
    """
    bare = name.strip("-")
    words = _CAMEL.sub("_", bare).lower().replace("-", "_").replace(".", "_")
    if _ORDINARY.search(words) or _LIBRARIES.match(bare):
        return ""
    if _STRONG.search(words) or _UPPER.fullmatch(bare) or (option and words == "token"):
        return "strong"
    return "weak" if _WEAK.search(words) else ""


def is_secret(name: str, value: str, *, option: bool = False) -> bool:
    """Whether `value`, given under `name`, must not be shown."""
    if no_value(value):
        return False
    how = strength(name, option=option)
    if how == "strong":
        return "pass" in name.lower() or not (value.isdigit() and len(value) < 6)
    return how == "weak" and looks_random(value, hexadecimal="token" in name.lower())


def is_said(value: str) -> bool:
    """Whether an unquoted value is no value but a word about it, code that computes it, or the path of a file."""
    bare = value.strip(".,;:!?()")
    if bare.isalpha() and bare.lower() in _SAID:
        return True
    if _EXCEPTION.fullmatch(bare) or _CODE.fullmatch(value):
        return True
    return _PATH.fullmatch(value) is not None and _KEY_LIKE.search(value) is None


def no_value(value: str) -> bool:
    """Whether this is a placeholder, a reference to a variable, or nothing at all."""
    return bool(_NONE.fullmatch(value.strip()))


def looks_random(value: str, *, hexadecimal: bool = False) -> bool:
    """Whether a value has the look of a key: long, letters and digits mixed, no path and no words.

    A digest (a commit, a communicator's id) looks random as well; it counts only with `hexadecimal`.
    """
    if not _RANDOM.fullmatch(value) or _UUID.fullmatch(value):
        return False
    return (hexadecimal and len(value) >= 20 and value.isalnum()) or not _WORDS.match(value)
