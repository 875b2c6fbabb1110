"""Input shaping: a reference in a few parts, each a little later, so that the vibrations they excite cancel.

References: singer1990 (ZV, ZVD), singhose1994 (EI)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pliant.errors import ModelError
from pliant.model.quantities import NonNegative, Positive, argument_of
from pliant.model.signals import Product, Sum, checked_signal, delayed

Array = NDArray[np.float64]
ShaperKind = Literal["zv", "zvd", "ei"]
MAX_MODES = 6
Ratio = Annotated[NonNegative, Field(lt=1.0)]

_checked_kind = argument_of(ShaperKind, "kind")
_checked_tolerance = argument_of(Annotated[Positive, Field(lt=1.0)], "tolerance")
_checked_frequency = argument_of(Positive, "frequency")
_checked_damping = argument_of(Ratio, "damping")


@dataclass(frozen=True, eq=False)
class InputShaper:
    """A few impulses: what a signal is convolved with. Their amplitudes add up to 1."""

    times: Array  # [s] from 0 on
    amplitudes: Array

    @property
    def duration(self) -> float:
        """By which a shaped motion is longer [s]."""
        return float(self.times[-1])

    def shaped(self, signal: Any) -> Sum:
        """The signal convolved with the impulses: a sum of delayed copies."""
        signal = checked_signal(signal)
        parts = zip(self.times.tolist(), self.amplitudes.tolist(), strict=True)
        return Sum(terms=tuple(Product(factors=(share, delayed(signal, time))) for time, share in parts))

    def residual(self, frequency: float, damping: float = 0.0) -> float:
        """Vibration that is left of a mode [rad/s, damping ratio] after the last impulse, over that of one impulse of
        size 1 at the same time (singer1990)."""
        omega, zeta = _checked_frequency(frequency), _checked_damping(damping)
        pole = omega * complex(zeta, math.sqrt(1.0 - zeta**2))
        return float(abs(np.sum(self.amplitudes * np.exp(pole * (self.times - self.times[-1])))))


def input_shaper(
    kind: ShaperKind,
    frequency: float | Sequence[float],
    damping: float | Sequence[float] = 0.0,
    tolerance: float = 0.05,
) -> InputShaper:
    """A shaper for a mode of this frequency [rad/s] and damping ratio, or for several (one damping for all, or each).

    kind: "zv", no vibration at the frequency, the shortest; "zvd", nor near it; "ei", at most `tolerance` of it in the
    widest band around it. Frequencies: pliant.modes(model).frequencies, .damping."""
    chosen, share = _checked_kind(kind), _checked_tolerance(tolerance)
    frequencies = [_checked_frequency(one) for one in _as_list(frequency, "frequency")]
    ratios = [_checked_damping(one) for one in _as_list(damping, "damping")]
    if len(ratios) == 1:
        ratios *= len(frequencies)
    if len(ratios) != len(frequencies):
        counts = f"{len(ratios)} damping ratios for {len(frequencies)} frequencies"
        raise ModelError(f"damping: {counts}; give one for all, or one each")
    made = [_one_mode(chosen, omega, zeta, share) for omega, zeta in zip(frequencies, ratios, strict=True)]
    whole = made[0]
    for other in made[1:]:
        whole = _convolved(whole, other)
    return whole


def _as_list(value: Any, name: str) -> list[Any]:
    plain = value.tolist() if isinstance(value, np.ndarray) else value
    values = list(plain) if isinstance(plain, (list, tuple)) else [plain]
    if not 1 <= len(values) <= MAX_MODES:
        raise ModelError(f"{name}: {len(values)} modes; give 1 to {MAX_MODES}: a shaper has 2 or 3 impulses for each")
    return values


def _one_mode(kind: str, omega: float, zeta: float, tolerance: float) -> InputShaper:
    """Impulses half a damped period apart; each finds the vibration of the one before smaller by K."""
    root = math.sqrt(1.0 - zeta**2)
    K = math.exp(-math.pi * zeta / root)
    sizes = {
        "zv": [1.0, K],
        "zvd": [1.0, 2.0 * K, K**2],
        # those of singhose1994 without damping, each as much smaller as the vibration is then
        "ei": [0.25 * (1.0 + tolerance), 0.5 * (1.0 - tolerance) * K, 0.25 * (1.0 + tolerance) * K**2],
    }[kind]
    amplitudes = np.array(sizes) / sum(sizes)
    times = np.arange(len(sizes), dtype=np.float64) * math.pi / (omega * root)
    return InputShaper(times, amplitudes)


def _convolved(first: InputShaper, second: InputShaper) -> InputShaper:
    times = np.add.outer(first.times, second.times).ravel()
    amplitudes = np.outer(first.amplitudes, second.amplitudes).ravel()
    order = np.argsort(times, kind="stable")
    return InputShaper(times[order], amplitudes[order])
