"""Tables of a model file that change or complete others."""

from typing import Any


def merged(tables: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Keys replace; of lists of tables, one with the name of one that is there changes its keys, others are added."""
    made = dict(tables)
    for key, value in changes.items():
        before = made.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            made[key] = before | value
        elif isinstance(value, list) and isinstance(before, list) and isinstance(before[0], dict):
            made[key] = _merged_lists(before, value, is_kind_kept=key == "bodies")
        else:
            made[key] = value
    return made


def _merged_lists(before: list[dict[str, Any]], changes: list[Any], is_kind_kept: bool) -> list[Any]:
    """A body of another kind takes the place of the one that is there."""
    items: list[Any] = list(before)
    places = {item.get("name"): k for k, item in enumerate(before)}
    for item in changes:
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or name not in places:
            items.append(item)
        elif is_kind_kept and item.get("kind", "rigid") != items[places[name]].get("kind", "rigid"):
            items[places[name]] = item
        else:
            items[places[name]] = items[places[name]] | item
    return items
