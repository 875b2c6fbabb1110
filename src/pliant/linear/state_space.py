"""A linear model with names: x' = A x + B u, y = C x + D u."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_names, as_number, as_numbers
from pliant.errors import ModelError
from pliant.linear.truncation import CLOSE, percent
from pliant.model.messages import closest, listed, quoted

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """x' = A x + B u, y = C x + D u: deviations from the state (q, v) at time t. With a period: x[k+1] = A x[k] + ..

    residual: accelerations of the independent coordinates at the state itself, zero where it is one of rest. error: how
    far the entries of A may be off, as the differences that made them say."""

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state_units: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    q: Array
    v: Array
    t: float
    residual: Array
    error: Array
    period: float | None = None  # of a sampled model [s]
    # by how much of itself the rate of every eigenvalue is above that of beams with all their shapes; nan: not known.
    # None: there are no beams, or nobody asked
    truncation: Array | None = None

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Poles [1/s]; of a sampled model pure numbers. By rising size."""
        found = np.linalg.eigvals(self.A).astype(complex)
        return np.asarray(found[np.argsort(np.abs(found), kind="stable")])

    @property
    def rates(self) -> Array:
        """Sizes of the eigenvalues of the model in continuous time [1/s], in the order of `eigenvalues`."""
        values = self.eigenvalues
        if self.period is not None:
            tiny = np.finfo(float).tiny  # a motion that is gone within a period
            values = np.asarray(np.log(np.where(np.abs(values) > tiny, values, tiny)) / self.period, dtype=complex)
        return np.asarray(np.abs(values))

    def frequency_response(
        self, omega: ArrayLike, inputs: str | Iterable[str] | None = None, outputs: str | Iterable[str] | None = None
    ) -> NDArray[np.complex128]:
        """G(i omega), (frequencies, outputs, inputs); omega in rad/s. One name of input and output: (frequencies)."""
        w = np.atleast_1d(as_numbers(omega, "omega"))
        if w.ndim != 1 or not np.all(np.isfinite(w)):
            raise ModelError(f"omega: shape {w.shape} found; give a list of finite frequencies [rad/s]")
        columns, rows = _pick(inputs, self.inputs, "inputs"), _pick(outputs, self.outputs, "outputs")
        points = 1j * w if self.period is None else np.exp(1j * w * self.period)
        eye, B = np.eye(len(self.A)), self.B[:, columns].astype(complex)
        found = np.empty((len(w), len(rows), len(columns)), complex)
        for k, point in enumerate(points):
            found[k] = self.C[rows] @ np.linalg.solve(point * eye - self.A, B) + self.D[np.ix_(rows, columns)]
        return found[:, 0, 0] if isinstance(inputs, str) and isinstance(outputs, str) else found

    def sampled(self, period: float) -> StateSpace:
        """The model that a computer sees which holds its commands for `period` seconds (zero-order hold): exact."""
        from scipy.linalg import expm

        if self.period is not None:
            raise ModelError(f"sampled: the model is sampled already, every {self.period:g} s")
        h = as_number(period, "period", 0.0, np.inf, "[s]")
        n, m = self.B.shape
        both = np.zeros((n + m, n + m))
        both[:n, :n], both[:n, n:] = self.A, self.B
        step = expm(both * h)
        return replace(self, A=step[:n, :n], B=step[:n, n:], period=h, truncation=None)

    def to_control(self) -> Any:
        """As a control.StateSpace of python-control, with the same names."""
        try:
            import control
        except ImportError:
            raise ModelError("to_control needs python-control; install it with pip install 'pliant[control]'") from None
        rename = str.maketrans(".", "_")  # python-control takes dots for signals of systems
        return control.ss(
            self.A, self.B, self.C, self.D, *(() if self.period is None else (self.period,)),
            states=[name.translate(rename) for name in self.states],
            inputs=[name.translate(rename) for name in self.inputs],
            outputs=[name.translate(rename) for name in self.outputs],
        )  # fmt: skip

    def __repr__(self) -> str:
        text = (
            f"<StateSpace: {len(self.states)} states, inputs {', '.join(self.inputs) or 'none'}, "
            f"outputs {', '.join(self.outputs) or 'none'}"
        )
        if self.truncation is not None:
            close = np.count_nonzero(self.truncation <= CLOSE)
            text += f", {close} of {len(self.truncation)} eigenvalues within {percent(CLOSE)} of those with all shapes"
        return f"{text}>"


def _pick(names: str | Iterable[str] | None, known: tuple[str, ...], what: str) -> list[int]:
    if names is None:
        return list(range(len(known)))
    chosen = as_names(names, what)
    for name in chosen:
        if name not in known:
            raise ModelError(f"{what}: no {quoted(name)}{closest(name, known) or ';'} there are {listed(known)}")
    return [known.index(name) for name in chosen]
