"""What controllers do about a state: what they command there, and how they answer to small deviations x,

s <- A s + B x,    u = C s + D x    at every sample."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.linear.differences import derivative
from pliant.linear.operating_point import OperatingPoint
from pliant.model.control import Controller
from pliant.model.control_laws import ComputedTorque, Matrices
from pliant.model.scales import tolerances
from pliant.simulation.controllers import Measured, Sampler, Sensors, wanted_command

Array = NDArray[np.float64]

AT_LIMIT = 1e-9  # of a limit: nearer to it than this is at it
FREE = 1e-12  # of the largest: singular values of 1 - A below this belong to integrals, which rest at any value
KINK = 1e-5  # of the largest slope of a function: less exact than this it is none


@dataclass(frozen=True)
class Feedback:
    """One controller, linear about a state."""

    name: str
    period: float  # [s]
    delay: float  # [s]
    inputs: list[int]  # rows of the held commands
    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]


@dataclass(frozen=True)
class Sensed:
    """What a law looks at: e + E x + F w, where w <- G x remembers the sample before."""

    e: Array
    E: Array
    F: Array
    G: Array
    names: tuple[str, ...]  # of what is remembered

    @property
    def slow(self) -> Array:
        """de/dx of deviations that stay."""
        return np.asarray(self.E + self.F @ self.G)


@dataclass(frozen=True)
class Loop:
    """A controller with what it looks at; as matrices that take e."""

    controller: Controller
    inputs: list[int]
    law: Matrices
    sensed: Sensed

    @cached_property
    def _rest(self) -> tuple[Array, Array, Array]:
        """Inverse of 1 - A but for integrals, what integrals may add to the state, and the conditions they make."""
        U, sizes, Vt = np.linalg.svd(np.eye(len(self.law.A)) - self.law.A)
        is_free = sizes <= FREE * max(1.0, float(np.max(sizes, initial=0.0)))
        return (Vt.T[:, ~is_free] / sizes[~is_free]) @ U[:, ~is_free].T, Vt.T[:, is_free], U[:, is_free].T

    @property
    def n_free(self) -> int:
        """How many numbers rest leaves open: values of integrals."""
        return int(self._rest[1].shape[1])

    def states(self, free: Array) -> Array:
        """Of the law, at rest."""
        inverse, columns, _ = self._rest
        x = inverse @ self.law.B @ self.sensed.e + columns @ free
        return np.clip(x, -self.law.bounds, self.law.bounds)

    @property
    def gain(self) -> Array:
        """du/dx of deviations that stay."""
        inverse, _, _ = self._rest
        return np.asarray((self.law.C @ inverse @ self.law.B + self.law.D) @ self.sensed.slow)

    @property
    def of_free(self) -> Array:
        """du/dfree."""
        return np.asarray(self.law.C @ self._rest[1])

    @property
    def conditions(self) -> tuple[Array, Array]:
        """What integrals sum up, zero at rest, and its derivative."""
        rows = self._rest[2] @ self.law.B
        return rows @ self.sensed.e, rows @ self.sensed.slow

    def feedback(self, is_saturated: NDArray[np.bool_], states: Array) -> Feedback:
        """Commands beyond their limit and states at their bounds do not answer."""
        law, sensed, n_w = self.law, self.sensed, len(self.sensed.G)
        answers, moves = ~is_saturated[:, None], (np.abs(states) < law.bounds)[:, None]
        n_x = len(law.A)
        A = np.block([[moves * law.A, moves * (law.B @ sensed.F)], [np.zeros((n_w, n_x + n_w))]])
        B = np.concatenate([moves * (law.B @ sensed.E), sensed.G])
        C, D = np.hstack([law.C, law.D @ sensed.F]) * answers, law.D @ sensed.E * answers
        one = self.controller
        names = (*(f"{one.name}.x{k + 1}" for k in range(n_x)), *(f"{one.name}.{name}" for name in sensed.names))
        return Feedback(one.name, one.period, one.delay, self.inputs, A, B, C, D, names)


class Controllers:
    """The controllers of a model about a state."""

    def __init__(self, point: OperatingPoint) -> None:
        self.point, self.model = point, point.model
        self._sampler = Sampler(point.handle)
        # coordinates and velocities, a row per velocity, by the states of the linear model
        self._coordinates = np.zeros((len(point.v), len(point.scales)))
        self._coordinates[:, : point.Z.shape[1]] = point.Z
        self._velocities = point.velocity_rows
        self._laws = [one for one in self.model.controllers if one.law is not None]
        self.loops: list[Loop] = []
        first = 0
        for controller in self.model.controllers:
            count = sum(self._sampler.widths(controller).values())
            self.loops.append(self._loop(controller, list(range(first, first + count))))
            first += count

    # --- at the state ---

    @property
    def n_free(self) -> int:
        return sum(loop.n_free for loop in self.loops)

    def _shares(self, free: Array) -> list[Array]:
        return np.split(free, np.cumsum([loop.n_free for loop in self.loops])[:-1])

    def commands(self, free: Array) -> Array:
        """What all say at rest at the state, without limits; free: values of integrals, which rest leaves open."""
        states = [loop.states(share) for loop, share in zip(self.loops, self._shares(free), strict=True)]
        x = [part for loop, part in zip(self.loops, states, strict=True) if loop.controller.law is not None]
        u = self._law_commands(self.point.q, self.point.v, np.concatenate([np.zeros(0), *x]))
        for loop in self.loops:
            if loop.controller.law is None:
                u[loop.inputs] = self._asked(loop.controller, self.point.q, self.point.v, self.point.q, self.point.v)
        return u

    @property
    def limits(self) -> Array:
        """Of every command [N, N m]."""
        found = np.full(sum(len(loop.inputs) for loop in self.loops), np.inf)
        for loop in self.loops:
            if loop.controller.limit is not None:
                found[loop.inputs] = loop.controller.limit
        return found

    def limited(self, u: Array) -> Array:
        return np.clip(u, -self.limits, self.limits)

    def steady(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """du/dx of deviations that stay, du/dfree, what integrals sum up, and its derivative."""
        answers = np.abs(u) < self.limits
        gain, of_free = np.zeros((len(u), len(self.point.scales))), np.zeros((len(u), self.n_free))
        missed, slope, first = [np.zeros(0)], [np.zeros((0, len(self.point.scales)))], 0
        for loop in self.loops:
            gain[loop.inputs] = loop.gain
            of_free[loop.inputs, first : first + loop.n_free] = loop.of_free
            missed.append(loop.conditions[0])
            slope.append(loop.conditions[1])
            first += loop.n_free
        return answers[:, None] * gain, answers[:, None] * of_free, np.concatenate(missed), np.concatenate(slope)

    def feedbacks(self, free: Array | None) -> list[Feedback]:
        """Linear about the state; a command just at its limit is refused, one beyond it does not answer. free None:
        limits and bounds are not looked at."""
        if free is None:
            return [loop.feedback(np.zeros(len(loop.inputs), bool), np.zeros(len(loop.law.A))) for loop in self.loops]
        u, found = self.commands(free), []
        for loop, share in zip(self.loops, self._shares(free), strict=True):
            is_saturated = np.zeros(len(loop.inputs), bool)
            for k, row in enumerate(loop.inputs):
                limit, name = self.limits[row], self._command_names(loop.controller)[k]
                where = f"controller {loop.controller.name!r}: the command of {name!r}"
                if abs(abs(u[row]) - limit) <= AT_LIMIT * limit < np.inf:
                    raise ModelError(
                        f"linearise: the state lies at a kink: {where} is just at its limit of {limit:g}; there is no "
                        "one linear model there: move it a little to the side that is meant"
                    )
                is_saturated[k] = abs(u[row]) > limit
                if is_saturated[k]:
                    warnings.warn(
                        f"{where} is beyond its limit, {abs(u[row]):.6g} > {limit:g}: it does not answer to small "
                        "motions there",
                        stacklevel=4,
                    )
            found.append(loop.feedback(is_saturated, loop.states(share)))
        return found

    def _command_names(self, controller: Controller) -> list[str]:
        widths = self._sampler.widths(controller)
        return [name if width == 1 else f"{name}[{k}]" for name, width in widths.items() for k in range(width)]

    def _law_commands(self, q: Array, v: Array, x: Array) -> Array:
        """Of all laws with states x; e of each is left in work.control."""
        from pliant.kernels import _jit, control

        handle = self.point.handle
        u = np.zeros(handle.packed.n_inputs)
        if self._laws:
            with handle.lock:
                _jit.entry(control.laws)(*handle.refs, self.point.t, np.concatenate([q, v]), x, u)
        return u

    def _asked(self, controller: Controller, q: Array, v: Array, true_q: Array, true_v: Array) -> Array:
        """What a Python function says to measured q and v; its outputs are those of the true state."""
        t, y = self.point.t, self.point.whole(true_q, true_v)
        measured = Measured(self._sampler, t, y, q.copy(), v.copy())
        return wanted_command(controller, t, measured, self._sampler.widths(controller))

    # --- answers ---

    def _loop(self, controller: Controller, inputs: list[int]) -> Loop:
        if controller.law is None:
            return self._of_function(controller, inputs, lambda *state: self._asked(controller, *state))
        if isinstance(controller.law, ComputedTorque):
            return self._of_function(
                controller, inputs, lambda q, v, *_: self._law_commands(q, v, self._no_states)[inputs]
            )
        return self._of_law(controller, inputs)

    @cached_property
    def _no_states(self) -> Array:
        return np.zeros(int(np.sum(self.point.handle.system.controllers.n_x)))

    def _of_law(self, controller: Controller, inputs: list[int]) -> Loop:
        assert controller.law is not None
        handle = self.point.handle
        row = handle.system.controllers[self._laws.index(controller)]
        self._law_commands(self.point.q, self.point.v, self._no_states)
        e = handle.work.control[row.e : row.e + row.n_e].copy()
        n_q = len(self.point.q)
        columns = [int(one.column) for one in handle.system.feedback[row.feedback : row.feedback + row.n_e]]
        of_coordinate = {int(dof.q): j for j, dof in enumerate(handle.system.dofs) if dof.q >= 0}
        coordinates = self._coordinates[[of_coordinate[column] for column in columns if column < n_q]]
        rates = [column - n_q for column in columns if column >= n_q]
        law = controller.law.matrices(len(inputs), controller.period)
        return Loop(controller, inputs, law, self._sensed(controller, e, coordinates, rates))

    def _sensed(self, controller: Controller, e: Array, first: Array, rates: list[int]) -> Sensed:
        """Rows `first` by the states of the linear model, then measured rates of these velocities."""
        by_velocity = {j: i for i, j in Sensors(self.model, controller).rated}
        is_difference = [controller.rates == "differences" and j in by_velocity for j in rates]
        kept = [j for j, is_one in zip(rates, is_difference, strict=True) if is_one]
        second = self._velocities[rates].copy()
        F = np.zeros((len(first) + len(rates), len(kept)))
        for row, (j, is_one) in enumerate(zip(rates, is_difference, strict=True)):
            if is_one:
                second[row] = self._coordinates[j] / controller.period
                F[len(first) + row, kept.index(j)] = -1.0 / controller.period
        names = tuple(f"{self.model.velocities[j]}.before" for j in kept)
        return Sensed(e, np.concatenate([first, second]), F, self._coordinates[kept], names)

    def _of_function(self, controller: Controller, inputs: list[int], function: Callable[..., Array]) -> Loop:
        """Of a function of measured q, v and the true state: slopes by differences."""
        point, n_x = self.point, len(self.point.scales)
        self._check_memory(controller, function)

        def by_state(x: Array) -> Array:
            q, v, _ = point.state(x)
            return function(q, point.v, q, v)

        slopes, error = point.derivatives(by_state)
        columns = []
        for j, scale in enumerate(self._velocity_scales):

            def by_rate(step: float, j: int = j) -> Array:
                v = point.v.copy()
                v[j] += step
                return function(point.q, v, point.q, point.v)

            columns.append(derivative(by_rate, float(scale)))
        by_rates = np.array([column for column, _ in columns]).T
        size = max(float(np.max(np.abs(slopes), initial=0.0)), float(np.max(np.abs(by_rates), initial=0.0)))
        worst = max([float(np.max(error, initial=0.0)), *(float(np.max(one)) for _, one in columns)])
        if worst > KINK * max(size, np.finfo(float).tiny):
            raise ModelError(
                f"linearise: the state lies at a kink: the command of controller {controller.name!r} changes its slope "
                "there; there is no one linear model: move it a little to the side that is meant, or controllers=False"
            )
        rates = [j for j in range(len(point.v)) if np.any(by_rates[:, j])]
        D = np.hstack([slopes, by_rates[:, rates]])
        none = np.zeros(0)
        law = Matrices(np.zeros((0, 0)), np.zeros((0, D.shape[1])), np.zeros((len(D), 0)), D, none, none)
        sensed = self._sensed(controller, np.zeros(n_x + len(rates)), np.eye(n_x), rates)
        return Loop(controller, inputs, law, sensed)

    @cached_property
    def _velocity_scales(self) -> Array:
        return tolerances(self.model, 0, 1.0)[len(self.point.q) :]

    def _check_memory(self, controller: Controller, function: Callable[..., Array]) -> None:
        """A function that remembers samples answers differently when it is asked the same again."""
        point = self.point
        state = (point.q, point.v, point.q, point.v)
        first = function(*state)
        function(*point.state(0.01 * point.scales)[:2], *point.state(0.01 * point.scales)[:2])
        if not np.array_equal(first, function(*state)):
            raise ModelError(
                f"controller {controller.name!r}: its function does not say the same when it is asked the same again, "
                "so that it remembers samples, or draws lots: that is not linearised; give a law, such as "
                "LinearController, or controllers=False"
            )
