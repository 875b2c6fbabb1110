"""Parameters of a study: what each is varied over.

"0:5:50"             50 values from 0 to 5, evenly; "0:5" for samples only
"log:1e3:1e6:20"     20 values, evenly in the logarithm
"normal:1:0.1"       mean and standard deviation; for samples only
"hertz,flores"       these values; a list in Python"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.io.parameters import parsed
from pliant.model.messages import quoted

Array = NDArray[np.float64]
FORMS = 'give LOW:HIGH:COUNT, log:LOW:HIGH:COUNT, normal:MEAN:DEVIATION, or values with commas, as in "0:5:50"'
MAX_VALUES = 10_000_000  # of one parameter
LARGEST = 1e35  # as in models


@dataclass(frozen=True)
class Parameter:
    """One key and what it is varied over."""

    name: str
    kind: str  # even, log, normal or list
    low: float = 0.0  # or the mean
    high: float = 0.0  # or the standard deviation
    count: int = 0  # of values in a grid; 0: none said
    values: tuple[Any, ...] = ()  # of a list
    is_whole: bool = False  # a range of whole numbers stays one

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, which charts and sensitivities need."""
        return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in self.values)

    def grid(self) -> tuple[Any, ...]:
        """Its values in a grid, or a message."""
        if self.kind == "list":
            return self.values
        if self.kind == "normal":
            raise ModelError(
                f"--vary {self.name}: normal is for samples, not for grids; give --sample N (sample=N), or a range"
            )
        if not self.count:
            raise ModelError(
                f"--vary {self.name}: a grid needs to know how many values; write "
                f"{self.name}={self.low:g}:{self.high:g}:COUNT, or give --sample N (sample=N)"
            )
        return tuple(self._typed(value) for value in self._from_share(np.linspace(0.0, 1.0, self.count)))

    def sampled(self, share: Array) -> list[Any]:
        """Values at shares 0 .. 1 of the distribution: the inverse of its cumulative function."""
        if self.kind == "list":
            places = np.minimum((share * len(self.values)).astype(int), len(self.values) - 1)
            return [self.values[k] for k in places]
        # a whole number is as likely as any other
        if self.is_whole:
            whole = np.floor(self.low + share * (self.high - self.low + 1))
            return [int(value) for value in np.minimum(whole, self.high)]
        return [float(value) for value in self._from_share(share)]

    def codes(self, values: Sequence[Any]) -> Array:
        """Values as numbers: themselves, or their places in the list."""
        if self.is_number:
            return np.array(values, float)
        places = {value: k for k, value in enumerate(self.values)}
        return np.array([places[value] for value in values], float)

    def has_codes(self, codes: Array) -> bool:
        """Return True if these numbers may stand for its values."""
        return self.is_number or bool(np.all(np.isin(codes, np.arange(len(self.values)))))

    def values_of(self, codes: Array) -> NDArray[Any]:
        """The values back."""
        if self.is_number:
            return codes
        found: NDArray[Any] = np.array(self.values, object)[codes.astype(int)]
        return found

    def plain(self, value: Any) -> Any:
        """One of its values as it was given: a column makes floats of whole numbers."""
        if self.kind == "list":
            return next(each for each in self.values if each == value)
        return int(value) if self.is_whole else float(value)

    @property
    def table(self) -> dict[str, Any]:
        """As study.json has it."""
        return {"name": self.name, "range": list(self.values) if self.kind == "list" else self.words}

    def _from_share(self, share: Array) -> Array:
        if self.kind == "even":
            # both ends exactly
            return (1.0 - share) * self.low + share * self.high
        if self.kind == "log":
            found = np.exp((1.0 - share) * math.log(self.low) + share * math.log(self.high))
            return np.where(share == 0.0, self.low, np.where(share == 1.0, self.high, found))
        from scipy.special import ndtri

        # shares of random methods may be 0: a value as unlikely as one in 2^53
        return self.low + self.high * np.asarray(ndtri(np.clip(share, 2.0**-53, 1.0 - 2.0**-53)))

    def _typed(self, value: float) -> Any:
        return round(value) if self.is_whole else float(value)

    @property
    def words(self) -> str:
        """As the command line has it."""
        if self.kind == "list":
            return ",".join(map(str, self.values))
        ends = f"{_text(self.low, self.is_whole)}:{_text(self.high, self.is_whole)}"
        prefix = "" if self.kind == "even" else f"{self.kind}:"
        return f"{prefix}{ends}" + (f":{self.count}" if self.count else "")


def _text(value: float, is_whole: bool) -> str:
    return str(int(value)) if is_whole else repr(value)


def parameters_of(given: Any) -> tuple[Parameter, ...]:
    """A mapping of keys to ranges or lists, checked."""
    if not isinstance(given, Mapping):
        raise ModelError(
            f"parameters: {quoted(given)} found; give a dict of keys and ranges, as {{'payload': '0:5:50'}}"
        )
    if not given:
        raise ModelError("parameters: none found; vary at least one, as in --vary payload=0:5:50")
    for key in given:
        if not isinstance(key, str) or not key.strip():
            raise ModelError(f"parameters: {quoted(key)} is no key; give text")
    return tuple(_parameter(key, value) for key, value in given.items())


def _parameter(name: str, given: Any) -> Parameter:
    if isinstance(given, Parameter):
        return given
    where = f"--vary {quoted(name)[1:-1]}"
    if isinstance(given, str):
        return _range(name, given, where) if ":" in given else _list(name, _split(given), where)
    if isinstance(given, np.ndarray) and given.ndim == 1:
        given = given.tolist()
    if isinstance(given, Sequence) and not isinstance(given, (bytes, bytearray)):
        return _list(name, list(given), where)
    raise ModelError(f"{where}: {quoted(given)} found; {FORMS}")


def _split(text: str) -> list[Any]:
    return [parsed(part.strip()) for part in text.split(",") if part.strip()]


def _list(name: str, values: list[Any], where: str) -> Parameter:
    """Values of a list: numbers, texts, true and false."""
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not values or len(values) > MAX_VALUES:
        raise ModelError(f"{where}: {len(values) or 'no'} values found; {FORMS}")
    for value in values:
        is_number = isinstance(value, (int, float)) and abs(value) <= LARGEST
        if not is_number and not isinstance(value, (bool, str)):
            raise ModelError(
                f"{where}: {quoted(value)} found among its values; give finite numbers, texts or true, false"
            )
    twice = [value for value, count in Counter(map(repr, values)).items() if count > 1]
    if twice:
        raise ModelError(f"{where}: {twice[0]} stands there twice; give every value once")
    return Parameter(name, "list", values=tuple(values))


def _range(name: str, text: str, where: str) -> Parameter:
    parts = [part.strip() for part in text.split(":")]
    kind = parts.pop(0) if parts[0] in ("log", "normal") else "even"
    try:
        low, high, *rest = (float(part) for part in parts)
        if len(rest) > 1 or (rest and (kind == "normal" or rest[0] != int(rest[0]))):
            raise ValueError
    except (ValueError, OverflowError):
        raise ModelError(f"{where}: {quoted(text)} is no range; {FORMS}") from None
    count = int(rest[0]) if rest else 0
    if not (abs(low) <= LARGEST and abs(high) <= LARGEST):
        raise ModelError(f"{where}: {quoted(text)} has ends that are not finite; {FORMS}")
    if rest and not 1 <= count <= MAX_VALUES:
        raise ModelError(f"{where}: {quoted(text)} asks for {count} values; give from 2 to {MAX_VALUES}")
    if kind == "normal":
        if not high > 0.0:
            raise ModelError(f"{where}: {quoted(text)} has the standard deviation {high:g}; give one above 0")
        return Parameter(name, kind, low, high)
    if not low < high or count == 1:
        raise ModelError(
            f"{where}: {quoted(text)} goes from {low:g} to {high:g}; give the lower end first, and no COUNT 1"
        )
    if kind == "log" and not low > 0.0:
        raise ModelError(f"{where}: {quoted(text)} begins at {low:g}, which has no logarithm; give ends above 0")
    is_whole = kind == "even" and all(part.lstrip("+-").isdecimal() for part in parts[:2])
    # 0:5:6 are whole numbers, 0:5:50 are not
    is_whole = is_whole and (not count or (high - low) % (count - 1) == 0)
    return Parameter(name, kind, low, high, count, is_whole=is_whole and bool(count))
