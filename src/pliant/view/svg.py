"""Small parts of SVG text: numbers, paths, texts. Standard library and numpy only."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NAMESPACE = "http://www.w3.org/2000/svg"
MINUS, TIMES = "\u2212", "\u00d7"
SUPERSCRIPTS = str.maketrans("0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b")


@cache
def stylesheet(name: str) -> str:
    """The text of a style sheet beside this module."""
    return Path(__file__).with_name(name).read_text(encoding="ascii")


def pixel(value: float) -> str:
    """A coordinate in pixels, as short as a tenth allows."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


def line_path(x: Array, y: Array) -> str:
    """Path data of a curve; points that are not finite leave gaps."""
    parts, is_pen_down = [], False
    for px, py in zip(x.tolist(), y.tolist(), strict=True):
        if not (np.isfinite(px) and np.isfinite(py)):
            is_pen_down = False
            continue
        parts.append(f"{'L' if is_pen_down else 'M'}{pixel(px)} {pixel(py)}")
        is_pen_down = True
    return "".join(parts)


def circle_path(x: float, y: float, radius: float) -> str:
    """Path data of a full circle."""
    # both from the rounded radius, else the halves do not meet
    radius = round(radius, 1)
    r, d = pixel(radius), pixel(2 * radius)
    return f"M{pixel(x - radius)} {pixel(y)}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z"


def polygon_path(points: Array) -> str:
    """Path data of a closed polygon (n, 2)."""
    return line_path(points[:, 0], points[:, 1]) + "Z"


def path(data: str, attributes: str) -> str:
    return f'<path {attributes} d="{data}"/>' if data else ""


def text(x: float, y: float, words: str, *, anchor: str = "start", css: str = "") -> str:
    style = f' class="{css}"' if css else ""
    return f'<text x="{pixel(x)}" y="{pixel(y)}" text-anchor="{anchor}"{style}>{escape(words)}</text>'


def document(width: float, height: float, content: str, label: str, *, style: str = "") -> str:
    """A whole svg element; `label` is read aloud by screen readers."""
    sheet = f"<style>{style}</style>" if style else ""
    size = f'width="{pixel(width)}" height="{pixel(height)}" ' if style else ""
    return (
        f'<svg xmlns="{NAMESPACE}" {size}viewBox="0 0 {pixel(width)} {pixel(height)}" role="img" '
        f'aria-label="{escape(label)}">{sheet}{content}</svg>'
    )


def power_of_ten(exponent: int) -> str:
    return "10" + str(exponent).translate(SUPERSCRIPTS)


def readable(value: float, digits: int = 6) -> str:
    """A number for people: a few significant digits, powers of ten written out."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return str(int(value)).replace("-", MINUS)
    if np.isnan(value):
        return "not available"
    if np.isinf(value):
        return "infinite" if value > 0 else f"{MINUS}infinite"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if value == 0.0 or -4 <= int(exponent) < max(digits, 6):
        words = f"{value:.0f}" if int(exponent) >= digits else f"{value:.{digits}g}"
        return words.replace("-", MINUS)
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa} {TIMES} {power_of_ten(int(exponent))}".replace("-", MINUS)
