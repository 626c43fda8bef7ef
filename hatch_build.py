"""Puts the compiled catalogue into the wheel, so that the first start reads no YAML."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CatalogueHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the shipped pattern files; an editable installation reads them as they are."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name the file to be included."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from diagnose.catalogue.assemble import assemble
        from diagnose.catalogue.cache import SHIPPED, ship
        from diagnose.catalogue.layers import find_layers

        found = find_layers(layers=False)
        target = Path(mkdtemp()) / SHIPPED
        ship(found, assemble(found).catalogue(), str(target))
        build_data["force_include"][str(target)] = f"diagnose/_data/{SHIPPED}"
