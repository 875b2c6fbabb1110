"""Frequency response between named inputs and outputs, and its picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_choice
from pliant.errors import ModelError
from pliant.report_types import Lines

Array = NDArray[np.float64]

SHOWN = 1e-9  # of the largest curve of a chart: less is rounding


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """G(i omega): outputs per unit of input, (frequencies, outputs, inputs)."""

    model: str  # its name
    omega: Array  # [rad/s]
    values: NDArray[np.complex128]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]

    @property
    def magnitude(self) -> Array:
        """|G|."""
        return np.abs(self.values)

    @property
    def phase(self) -> Array:
        """Angle of G [rad], without jumps by 2 pi along the frequencies."""
        return np.unwrap(np.angle(self.values), axis=0)

    def between(self, input: str, output: str) -> NDArray[np.complex128]:
        """G (frequencies) from one input to one output."""
        return np.asarray(self.values[:, self._row(output), self._column(input)])

    def unit(self, input: str, output: str) -> str:
        """Of G from one input to one output, in words."""
        below, above = self.input_units[self._column(input)], self.output_units[self._row(output)] or "1"
        return f"{above}/({below})" if " " in below or "/" in below else f"{above}/{below}"

    def _column(self, name: str) -> int:
        return self.inputs.index(as_choice(name, self.inputs, "input"))

    def _row(self, name: str) -> int:
        return self.outputs.index(as_choice(name, self.outputs, "output"))

    def charts(self) -> tuple[Lines, ...]:
        """Bode plots: magnitude and phase from every input, outputs of one unit together."""
        return tuple(chart for pair in self._pairs() for chart in pair)

    def _pairs(self) -> Iterator[tuple[Lines, Lines]]:
        phase = np.degrees(self.phase)
        across = ("frequency", "rad/s")
        for i, name in enumerate(self.inputs):
            for unit in dict.fromkeys(self.output_units):
                chosen = [o for o, each in enumerate(self.output_units) if each == unit]
                sizes = self.magnitude[:, chosen, i].max(axis=0)
                chosen = [o for o, size in zip(chosen, sizes, strict=True) if size > SHOWN * sizes.max()]
                if not chosen:
                    continue
                words = f"{self.outputs[chosen[0]]} from {name}" if len(chosen) == 1 else f"from {name}"
                yield (
                    Lines(
                        f"Magnitude {words}", self.unit(name, self.outputs[chosen[0]]), *across,
                        tuple((self.outputs[o], self.omega, self.magnitude[:, o, i]) for o in chosen),
                        is_log=True, is_log_across=True,
                    ),
                    Lines(
                        f"Phase {words}", "deg", *across,
                        tuple((self.outputs[o], self.omega, phase[:, o, i]) for o in chosen),
                        is_log_across=True,
                    ),
                )  # fmt: skip

    def plot(self) -> Any:
        """Bode plot with matplotlib: magnitude above phase, a column per input and unit. Returns the Axes; their figure
        saves and shows: response.plot()[0, 0].figure.savefig("bode.png")."""
        from pliant.view.figure import plot_lines

        pairs = [*self._pairs()]
        if not pairs:
            raise ModelError("plot: no output answers to any input; name others")
        return plot_lines([*zip(*pairs, strict=True)])

    def __repr__(self) -> str:
        return (
            f"<FrequencyResponse of {self.model}: {len(self.omega)} frequencies, inputs {', '.join(self.inputs)}, "
            f"outputs {', '.join(self.outputs)}>"
        )
