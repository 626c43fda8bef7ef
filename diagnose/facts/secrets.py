"""Hides the values of tokens, keys and passwords, so that no report carries them on."""

from __future__ import annotations

import re

from diagnose.classes import replace
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence

MASK = "[masked]"
_NAME = Lazy(r"TOKEN(?!IZ)|KEY|SECRET|PASSW|CREDENTIAL|PRIVATE", re.IGNORECASE)
_ML = Lazy(r"(?:NCCL|CUDA|PYTORCH|NVTE|TORCH|NVSHMEM|UCX|SLURM)_")
_OPTION = Lazy(
    r"api_?key|access_?key|secret|passw|credential|(?:hf|auth|access|hub|wandb|api)_?token",
    re.IGNORECASE,
    needs=("key", "secret", "passw", "credential", "token"),
)
_ASSIGNED = Lazy(r"""(?<![\w$])([A-Za-z_]\w{2,80})(['"]?\s{0,2}[=:]\s{0,2})("[^"]*"|'[^']*'|[^\s'",;]+)""")
_FLAG = Lazy(r"""(--[A-Za-z][\w-]{2,80})([ =]+|['"], ?['"])([^\s'"]+)""")


def is_secret(name: str) -> bool:
    """Whether an environment variable of this name holds something that must not be shown."""
    return bool(_NAME.search(name)) and not _ML.match(name)


def is_secret_option(name: str) -> bool:
    """Whether a configuration key or option of this name holds something that must not be shown."""
    return bool(_OPTION.search(name.replace("-", "_")))


def hide(text: str) -> str:
    """Mask every value in `text` that is assigned to a name or option which sounds like a secret."""
    if not _NAME.search(text):
        return text
    text = _ASSIGNED.sub(lambda m: f"{m[1]}{m[2]}{MASK}" if _hidden(m[1]) else m[0], text)
    return _FLAG.sub(lambda m: f"{m[1]}{m[2]}{MASK}" if is_secret_option(m[1]) else m[0], text)


def hide_evidence(evidence: Evidence) -> Evidence:
    """Mask secrets in the shown line."""
    shown = hide(evidence.text)
    return evidence if shown == evidence.text else replace(evidence, text=shown)


def _hidden(name: str) -> bool:
    return is_secret_option(name) or (is_secret(name) and name.upper() == name)
