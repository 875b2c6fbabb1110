"""Friction laws in groups that fit on one chart."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.model.friction_laws import FRICTION_LAWS


def friction_groups(laws: Sequence[str]) -> dict[str, list[str]]:
    """Those of the laws that stick, and those that do not (smoothed, or with bristles), where there are any."""
    stick = {name for name, law in FRICTION_LAWS.items() if law.sticks()}
    found = {
        "laws that stick": [law for law in laws if law in stick],
        "smoothed laws and bristles": [law for law in laws if law not in stick],
    }
    return {title: members for title, members in found.items() if members}
