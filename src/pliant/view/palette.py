"""The colours of colours.css for those who draw without a browser."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from pliant.view.svg import stylesheet

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Look:
    """How marks of one class are drawn; None: not at all."""

    fill: Colour | None
    stroke: Colour | None
    opacity: float = 1.0
    is_dashed: bool = False


@cache
def colours(is_dark: bool = False) -> dict[str, Colour]:
    """Named colours: card, ink, curve0 ..."""
    light, _, dark = stylesheet("colours.css").partition("@media")
    found = _variables(light)
    return found | _variables(dark) if is_dark else found


def _variables(text: str) -> dict[str, Colour]:
    pairs = re.findall(r"--([\w-]+):\s*#([0-9a-fA-F]{6})\b", text)
    return {name: (int(hexa[:2], 16), int(hexa[2:4], 16), int(hexa[4:], 16)) for name, hexa in pairs}


@cache
def looks() -> dict[str, Look]:
    """Every class of marks and words, light theme; "" is plain text."""
    found = {"": Look(colours()["muted"], None)}
    for name, body in re.findall(r"svg \.([\w-]+) \{(.*?)\}", stylesheet("colours.css")):
        rules = dict(re.findall(r"([\w-]+):\s*([^;]+);", body))
        opacity = float(rules.get("opacity", 1.0))
        found[name] = Look(_named(rules.get("fill")), _named(rules.get("stroke")), opacity, "stroke-dasharray" in rules)
    return found


def _named(value: str | None) -> Colour | None:
    name = re.fullmatch(r"var\(--([\w-]+)\)", value or "")
    return colours()[name[1]] if name else None


def mixed(colour: Colour, share: float, ground: Colour) -> Colour:
    """A colour over a ground, as strong as the share says."""
    red, green, blue = (round(share * a + (1 - share) * b) for a, b in zip(colour, ground, strict=True))
    return red, green, blue
