"""Numbers of a page: arrays as base64 text, each kept once, and JSON that is safe inside a script element."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

# what an html parser could take for the end of the script
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
STEPS = 65534  # of rounded values
ENOUGH = 1e-6  # of a curve's range: rounding that one does not see


class Arrays:
    """Arrays of a page; in the page's data an array is its number here, counted from `first` on."""

    def __init__(self, first: int = 0) -> None:
        self.texts: list[str] = []
        self._first = first
        self._known: dict[str, int] = {}

    def add(self, values: ArrayLike, kind: str = "f4") -> int:
        """kind: "f4", "f8", "u1" or "i4", little endian."""
        data = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<")).tobytes()
        return self._keep(f"{kind}{base64.b64encode(data).decode('ascii')}")

    def rounded(self, values: ArrayLike) -> int:
        """In 65534 steps from the lowest to the highest, which are written first; what is not finite is missing."""
        values = np.asarray(values, dtype=np.float64)
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
        step = (high - low) / STEPS
        if not np.isfinite(step):
            return self.add(values, "f8")
        if step == 0.0:
            step = 1.0
        with np.errstate(invalid="ignore"):
            levels = np.where(np.isfinite(values), np.round((values - low) / step), STEPS + 1)
        data = levels.astype("<u2").tobytes()
        return self._keep(f"u2{low!r} {step!r} {base64.b64encode(data).decode('ascii')}")

    def _keep(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = self._first + len(self.texts)
            self.texts.append(text)
        return self._known[text]

    def curve(self, values: ArrayLike) -> int:
        """Of a chart: single precision unless rounding to it could be seen."""
        values = np.asarray(values, dtype=np.float64)
        finite = values[np.isfinite(values)]
        if len(finite) == 0:
            return self.add(values)
        largest, spread = float(np.max(np.abs(finite))), float(np.ptp(finite))
        is_coarse = 6e-8 * largest > ENOUGH * spread > 0
        return self.add(values, "f8" if is_coarse or largest > 1e38 or 0 < largest < 1e-30 else "f4")


def script_json(data: Any) -> str:
    """JSON for a script element: ASCII, and no names from a model file can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for character, escaped in UNSAFE.items():
        text = text.replace(character, escaped)
    return text
