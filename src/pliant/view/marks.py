"""Pieces of a picture as data: lines, polygons, circles and words in pixels. SVG, matplotlib and videos draw them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from pliant.view.svg import Array, circle_path, line_path, path, pixel, polygon_path, text


@dataclass(frozen=True)
class Mark:
    """A shape. Its look is a class of colours.css."""

    look: str
    points: Array  # (n, 2) [px]; of a circle its centre
    shape: Literal["line", "polygon", "circle"]
    width: float = 1.0  # of the line [px]
    radius: float = 0.0  # of a circle [px]
    opacity: float = 1.0
    depth: float = 0.0  # how near it is; far ones are drawn first


@dataclass(frozen=True)
class Words:
    """A short text."""

    x: float  # [px]
    y: float  # of the base line [px]
    text: str
    anchor: Literal["start", "middle", "end"] = "start"
    look: str = ""
    size: float = 1.0  # times that of labels


@dataclass(frozen=True)
class Layer:
    """Marks drawn together, all as strong as the layer."""

    marks: Sequence[Mark | Words]
    opacity: float = 1.0


def line(look: str, points: Array, width: float = 1.0, *, opacity: float = 1.0, depth: float = 0.0) -> Mark:
    return Mark(look, points, "line", width, opacity=opacity, depth=depth)


def polygon(look: str, points: Array, width: float = 1.0, *, depth: float = 0.0) -> Mark:
    return Mark(look, points, "polygon", width, depth=depth)


def circle(look: str, centre: Array, radius: float, width: float = 1.0, *, depth: float = 0.0) -> Mark:
    return Mark(look, centre[None, :], "circle", width, radius, depth=depth)


def svg_layers(layers: Iterable[Layer]) -> str:
    """SVG text of layers."""
    parts = []
    for layer in layers:
        content = svg_marks(layer.marks)
        parts.append(content if layer.opacity == 1 else f'<g opacity="{layer.opacity:.2f}">{content}</g>')
    return "".join(parts)


def svg_marks(marks: Iterable[Mark | Words]) -> str:
    """SVG text of marks as they come; neighbours of one look become one path."""
    parts = []
    for look, group in groupby(marks, _attributes):
        if look is None:
            parts += [text(one.x, one.y, one.text, anchor=one.anchor, css=one.look) for one in group]  # type: ignore[union-attr]
        else:
            parts.append(path("".join(_data(one) for one in group), look))  # type: ignore[arg-type]
    return "".join(parts)


def _attributes(mark: Mark | Words) -> str | None:
    if isinstance(mark, Words):
        return None
    width = f' stroke-width="{pixel(mark.width)}"' if mark.width != 1 else ""
    opacity = f' opacity="{mark.opacity:.2f}"' if mark.opacity != 1 else ""
    return f'class="{mark.look}"{width}{opacity}'


def _data(mark: Mark) -> str:
    if mark.shape == "circle":
        x, y = mark.points[0].tolist()
        return circle_path(x, y, mark.radius)
    return polygon_path(mark.points) if mark.shape == "polygon" else line_path(*mark.points.T)
