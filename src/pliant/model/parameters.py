"""A parameter of a method or a law as data: what it means, its unit, what it may be. Checks and listings use it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model.messages import quoted


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method: what it means, its unit, what it may be; its key in files and on the command line."""

    words: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    is_open: bool = False  # low itself is not allowed
    choices: tuple[str, ...] = ()
    key: str = ""
    name: str = ""
    default: Any = None
    is_needed: bool = False  # it has no default
    is_whole: bool = False  # a whole number

    def checked(self, value: Any, where: str) -> Any:
        """The value as the method takes it, or a message."""
        if self.choices:
            if isinstance(value, str) and value in self.choices:
                return value
            raise ModelError(f"{where}: {quoted(value)} found; give one of {', '.join(self.choices)}")
        if isinstance(self.default, bool):
            if isinstance(value, bool):
                return value
            raise ModelError(f"{where}: {quoted(value)} found; give true or false")
        is_number = isinstance(value, (int, float)) or hasattr(value, "__float__")
        if is_number and not isinstance(value, (bool, str)):
            try:
                number = float(value)
            except Exception:  # what a caller's objects do when they shall become a number
                number = math.nan
            if self.is_whole and number != round(number, 0):
                number = math.nan
            if (self.low < number if self.is_open else self.low <= number) and number <= self.high < math.inf:
                return int(number) if self.is_whole else number
            if self.high == math.inf and self.low <= number < math.inf and not (self.is_open and number == self.low):
                return number
        raise ModelError(f"{where}: {quoted(value)} found; give a {self.kind} {self.range_words} ({self.words})")

    @property
    def kind(self) -> str:
        return "whole number" if self.is_whole else "number"

    @property
    def range_words(self) -> str:
        """What numbers it may be: "above 0 m/s"; "" for what has no bounds."""
        if self.low == -math.inf and self.high == math.inf:
            return ""
        unit = f" {self.unit}" if self.unit else ""
        if self.high < math.inf and self.is_open:
            return f"above {self.low:.4g}, at most {self.high:g}{unit}"
        if self.high < math.inf:
            return f"from {self.low:.4g} to {self.high:g}{unit}"
        return (f"above {self.low:g}" if self.is_open else f"of at least {self.low:g}") + unit
