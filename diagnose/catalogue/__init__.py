"""Pattern files: found, read, checked, cached, ready to match. See ARCHITECTURE.md."""

from __future__ import annotations

from diagnose.catalogue.compile import Matcher, compile_alternative
from diagnose.catalogue.loader import check_files, load
from diagnose.catalogue.model import Alternative, Catalogue, Pattern, Trouble, Wording

__all__ = [
    "Alternative",
    "Catalogue",
    "Matcher",
    "Pattern",
    "Trouble",
    "Wording",
    "check_files",
    "compile_alternative",
    "load",
]
