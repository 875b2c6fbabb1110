"""transfer(model): natural frequencies, shapes and frequency responses by transfer matrices, beams continuous."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_flag, as_model, as_name, as_number, as_time, as_whole
from pliant.errors import ModelError
from pliant.files import as_path
from pliant.linear.transfer_matrix.chain import Chain
from pliant.linear.transfer_matrix.films import film, picture_model
from pliant.linear.transfer_matrix.free_motions import HIGHEST, FreeMotions, as_frequencies
from pliant.linear.transfer_matrix.natural import count_below
from pliant.linear.transfer_matrix.ports import Reading, Solution, find_inputs, find_outputs
from pliant.linear.transfer_matrix.reporting import COLUMNS, findings, summary, table
from pliant.linear.transfer_matrix.response import FrequencyResponse
from pliant.linear.transfer_matrix.riccati import Loads, solve
from pliant.model.messages import quoted
from pliant.model.model import Model
from pliant.results.model_warnings import warn_about_model
from pliant.results.recording import Recording

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]

COUNT = 10  # modes, unless said otherwise
BODE_POINTS = 2000
MAX_VALUES = 20_000_000  # of one response: 320 MB
NEAR = 1e-12  # relative, of a natural frequency that may be the one asked for: wide enough for counts to tell
ROUNDING = 1e-13  # relative, of natural frequencies of continuous beams (6e-14 was found)
UNSURE = 0.1  # relative: a response that changes by more within this rounding is not known
MAX_FILMS = 8  # modes on the page that move


class Transfer(FreeMotions):
    """Small motions of a model about rest by transfer matrices, as `transfer` returns them: free, and forced ones."""

    # --- responses ---

    def response(
        self, omega: ArrayLike, inputs: str | Iterable[str] | None = None, outputs: str | Iterable[str] | None = None
    ) -> FrequencyResponse:
        """G(i omega), omega in rad/s.

        inputs: forces of joints ("elbow", "elbow.motor"), motions of prescribed ones ("hub"), forces and couples at
        frames in world axes ("tip.fy", "tip.mz"), motions of the ground ("world.y"); default: motors, else all joints.
        outputs: the model's, coordinates and rates of joints ("elbow.rate"), of frames displacement, rotation, their
        rates and accelerations ("tip.x", "tip.rz", "tip.vx", "tip.wz", "tip.ax", "tip.alz"), reactions ("elbow.mz");
        default: the model's outputs, else all joints."""
        w = np.atleast_1d(as_frequencies(omega))
        chain = self._chain(float(np.max(w, initial=0.0)))
        ports, loads = find_inputs(chain, inputs)
        readings = find_outputs(chain, outputs)
        size = len(w) * len(readings) * len(ports)
        if size > MAX_VALUES:
            raise ModelError(
                f"response: {len(w)} frequencies, {len(readings)} outputs and {len(ports)} inputs are {size:.2g} "
                "numbers; name the inputs and outputs that are meant"
            )
        values = self._values(chain, w, loads, readings)
        self._check_finite(w, values)
        self._check_bounded(chain, w, loads, readings)
        return FrequencyResponse(
            self.model.name, w, values,
            tuple(one.name for one in ports), tuple(one.port.name for one in readings),
            tuple(one.unit for one in ports), tuple(one.port.unit for one in readings),
        )  # fmt: skip

    def _values(self, chain: Chain, w: Array, loads: Loads, readings: Sequence[Reading]) -> Complexes:
        """(frequencies, outputs, inputs)."""
        values = np.empty((len(w), len(readings), loads.n), complex)
        for part in np.array_split(np.arange(len(w)), max(1, -(-len(w) // 512))):
            solution = self._solve(chain, w[part], loads)
            for o, one in enumerate(readings):
                values[part, o] = one.read(solution)
        return values

    def _solve(self, chain: Chain, w: Array, loads: Loads) -> Solution:
        s = np.asarray(1j * w, complex)
        s2 = -(w**2)
        damper = s if chain.has_damping else np.zeros(len(w))
        with np.errstate(all="ignore"):
            try:
                motion, balance = solve(chain, s2, damper, loads)
            except np.linalg.LinAlgError:
                raise ModelError(self._singular(w)) from None
        return Solution(chain, loads, motion, balance, s)

    def _check_finite(self, w: Array, values: Complexes) -> None:
        bad = ~np.all(np.isfinite(values), axis=(1, 2))
        if np.any(bad):
            raise ModelError(self._singular(w[bad]))

    def _check_bounded(self, chain: Chain, w: Array, loads: Loads, readings: Sequence[Reading]) -> None:
        """Without dampers: a message where a natural frequency that answers is the one asked for, as far as digits
        tell. What is found there is rounding divided by rounding."""
        if chain.has_damping:
            return
        above, below = (count_below(lambda _: chain, (w * (1.0 + side)) ** 2) for side in (NEAR, -NEAR))
        at = np.flatnonzero((above != below) & (w > 0.0))
        if not len(at):
            return
        up, down = (self._values(chain, w[at] * (1.0 + side), loads, readings) for side in (ROUNDING, -ROUNDING))
        is_poor = ~(np.abs(up - down) <= UNSURE * np.max(np.abs(up), axis=(1, 2), keepdims=True))
        if np.any(is_poor):
            raise ModelError(self._singular(w[at[np.any(is_poor, axis=(1, 2))]]))

    def _singular(self, w: Array) -> str:
        if np.any(w == 0.0):
            return (
                "omega: 0 found, but something of the model is held by nothing and would move off without end; give "
                "frequencies above 0 [rad/s]"
            )
        return f"omega: {w[0]:.10g} rad/s is a natural frequency without damping; the response has no bounds there"

    def bode(
        self,
        inputs: str | Iterable[str] | None = None,
        outputs: str | Iterable[str] | None = None,
        omega: ArrayLike | None = None,
    ) -> FrequencyResponse:
        """The response over all modes found, at 2000 frequencies unless omega says which; .plot() draws it."""
        if omega is None:
            found = self.frequencies[self.frequencies > 0.0]
            low, high = (float(0.1 * found[0]), float(2.0 * found[-1])) if len(found) else (0.1, 10.0)
            omega = np.geomspace(low, high, BODE_POINTS)
        return self.response(omega, inputs, outputs)

    # --- words and pages ---

    def table(self) -> list[tuple[str, ...]]:
        """Of every mode: number, frequency, damping ratio, count, what moves."""
        return table(self)

    @property
    def summary(self) -> dict[str, Any]:
        """Plain numbers, for files."""
        return summary(self)

    def report(
        self, path: str | Path = "transfer.html", *, response: FrequencyResponse | None = None, title: str = ""
    ) -> None:
        """Write a page: the lowest modes that vibrate, moving, the table, shapes, and Bode plots of a response."""
        from pliant.view.page.report import write_findings

        as_name(title, "title", "give a text")
        if response is not None and not isinstance(response, FrequencyResponse):
            raise ModelError(
                f"response: {quoted(response)} found; give what bode or response returned, or leave it out"
            )
        name = title or f"{self.model.name}: transfer matrices"
        about = f"{len(self.frequencies)} modes of {self.model.name} about rest"
        write_findings(
            as_path(path),
            findings(self, response),
            title=name,
            description=about,
            settings={},
            setting_table={},
            films=self._films(),
        )

    def _films(self) -> dict[str, Recording]:
        """The lowest modes that vibrate, by their words."""
        model = picture_model(self.model)
        shown = np.flatnonzero(self.frequencies > 0.0)[:MAX_FILMS]
        return {f"mode {k + 1}, {self.hertz[k]:.5g} Hz": film(self, model, int(k)) for k in shown}

    def __repr__(self) -> str:
        rows = [COLUMNS, *self.table()]
        widths = [max(len(row[c]) for row in rows) for c in range(len(COLUMNS))]
        return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows)


def transfer(
    model: Model,
    q: ArrayLike | None = None,
    *,
    count: int | None = None,
    below: float | None = None,
    is_damped: bool = True,
    t: float = 0.0,
) -> Transfer:
    """Natural frequencies, shapes and frequency responses of small motions about rest, by Riccati transfer matrices.

    Trees of bodies, joints and beams; beams are continua, not assumed modes, so that every frequency is exact. count:
    how many modes (default 10), or below: all below this frequency [rad/s]; none is missed. q: a configuration at rest,
    beams straight; default: rest next to the model's start. is_damped=False leaves all dampers out. t: time at which
    motors, loads and prescribed joints are taken."""
    warn_about_model(as_model(model))
    if count is not None and below is not None:
        raise ModelError("count and below are both given; leave one of them out")
    number = as_whole(count, "count") if count is not None else None
    limit = as_number(below, "below", 0.0, HIGHEST, "[rad/s]") if below is not None else None
    if number is None and limit is None:
        number = COUNT
    return Transfer(model, q, number, limit, as_flag(is_damped, "is_damped"), as_time(t))
