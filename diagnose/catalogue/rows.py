"""Turns what the catalogue holds into plain rows, as caches keep it, and back."""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.catalogue.model import (
    ActionRule,
    Alternative,
    CauseRule,
    CheckRule,
    CostRule,
    FixRule,
    Lines,
    Near,
    Pattern,
    PlacementRule,
    Sample,
    Wording,
)
from diagnose.typed import Any


def plain(value: Any) -> Any:
    """Turn tuples and mappings of any kind into what every encoding knows."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return value


def pack(value: Any) -> Any:
    """Turn dataclasses into plain JSON values, without the fields that hold their default."""
    from dataclasses import MISSING, fields, is_dataclass

    if isinstance(value, tuple | list):
        return [pack(item) for item in value]
    if isinstance(value, dict):
        return {key: pack(item) for key, item in value.items()}
    if is_dataclass(value):
        found = ((field.name, getattr(value, field.name), field.default) for field in fields(value))
        return {
            name: pack(item) for name, item, default in found if default is MISSING or item not in (default, (), {})
        }
    return value


def unpack(row: dict[str, Any]) -> Pattern:
    """Build a pattern from what `pack` made of it."""
    row["match"] = tuple(_alternative(each) for each in row.get("match", ()))
    row["checks"] = tuple(CheckRule(**each) for each in row.get("checks", ()))
    row["causes"] = tuple(CauseRule(**each) for each in row.get("causes", ()))
    row["fixes"] = tuple(_fix(each) for each in row.get("fixes", ()))
    row["samples_match"] = tuple(Sample(**each) for each in row.get("samples_match", ()))
    row["samples_no_match"] = tuple(Sample(**each) for each in row.get("samples_no_match", ()))
    if "action" in row:
        row["action"] = ActionRule(**row["action"])
    for key in ("aliases", "explains", "confirms", "cancelled_by", "references"):
        if key in row:
            row[key] = tuple(row[key])
    return Pattern(**row)


def _alternative(row: dict[str, Any]) -> Alternative:
    if "near" in row:
        row["near"] = tuple(Near(**each) for each in row["near"])
    for key in ("exception", "unless", "literals"):
        if key in row:
            row[key] = tuple(row[key])
    return Alternative(**row)


def _fix(row: dict[str, Any]) -> FixRule:
    if "how" in row:
        row["how"] = tuple(Lines(**{**each, "lines": tuple(each["lines"])}) for each in row["how"])
    if "cost" in row:
        row["cost"] = CostRule(**row["cost"])
    if "references" in row:
        row["references"] = tuple(row["references"])
    return FixRule(**row)


def wordings_of(rows: Any) -> tuple[Wording, ...]:
    """Build the wordings from their rows."""
    return tuple(Wording(a, b, tuple(c), d, tuple(e), f) for a, b, c, d, e, f in rows)


def placement_of(rows: Any) -> tuple[PlacementRule, ...]:
    """Build the rules of placement from what `pack` made of them."""
    return tuple(
        PlacementRule(
            **{
                **row,
                "rules": placement_of(row.get("rules", ())),
                "places": tuple((category, text) for category, text in row.get("places", ())),
                **{key: tuple(row.get(key, ())) for key in ("type", "package", "errno")},
            }
        )
        for row in rows
    )
