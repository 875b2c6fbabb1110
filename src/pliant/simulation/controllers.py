"""Python controllers: when they are due, what they see, and what is held until the next instant.

Around a controller stands what a real loop has: noise and steps of sensors, a delay, steps and limits of commands."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_numbers
from pliant.engine.callbacks import CallbackError, guarded
from pliant.errors import ModelError
from pliant.model.control import Controller
from pliant.model.messages import listed, quoted
from pliant.model.model import Model
from pliant.model.quantities import LARGEST
from pliant.results.checkpoint import SampledState
from pliant.results.outputs import OutputsNow
from pliant.system.control_tables import SAME_INSTANT

if TYPE_CHECKING:
    from pliant.engine.prepared import Prepared

Array = NDArray[np.float64]


# --- what a controller sees -----------------------------------------------------------------------------------


class Measured:
    """What a controller sees: the state at its sampling instant, as its sensors measure it."""

    def __init__(self, sampler: Sampler, t: float, y: Array, q: Array, v: Array) -> None:
        self.model, self.t, self.q, self.v = sampler.model, t, q, v
        self._sampler, self._y = sampler, y

    def __getitem__(self, name: str) -> Any:
        """(q, v) of one joint: numbers if it has one coordinate, else arrays. Or an output of the model, an array."""
        for link in self.model.links:
            if link.joint.name == name:
                q, v = self.q[link.q_slice], self.v[link.v_slice]
                return (float(q[0]), float(v[0])) if len(q) == 1 else (q, v)
        if name in (output.name for output in self.model.outputs):
            return self.outputs[name]
        joints = ", ".join(link.joint.name for link in self.model.links)
        outputs = ", ".join(output.name for output in self.model.outputs)
        raise KeyError(f"no joint {name!r}; there are {joints}" + (f" and outputs {outputs}" if outputs else ""))

    @cached_property
    def outputs(self) -> dict[str, Array]:
        """The model's outputs at this instant, under the commands held until now; exact. Worked out when asked for."""
        return self._sampler.outputs(self.t, self._y)

    @property
    def commands(self) -> dict[str, Array]:
        """What the motors got until now, by joint."""
        return self._sampler.commands()


class Sensors:
    """From the true state to what one controller receives."""

    def __init__(self, model: Model, controller: Controller) -> None:
        self.controller = controller
        self.random = np.random.default_rng(controller.seed)
        joints = [(link, k) for link in model.links for k in range(len(link.joint.row.coordinates))]
        # attitudes and modal coordinates have no encoder
        plain = [(link, k) for link, k in joints if not link.joint.row.coordinates[k].startswith("q")]
        self.q_rows = [link.q + k for link, k in plain]
        self.v_rows = [j for link in model.links for j in range(link.v_slice.start, link.v_slice.stop)]
        self.steps = [controller.angle_step if link.joint.row.angles[k] else controller.resolution for link, k in plain]
        # coordinates with the velocity that is their rate
        self.rated = [(link.q + k, link.v + k) for link, k in plain if link.joint.row.has_plain_rates]
        self.last: Array | None = None

    def read(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Measured q and v: noise, then steps; rates of the coordinates as measured, if asked for."""
        seen, controller = q.copy(), self.controller
        if controller.noise:
            seen[self.q_rows] += controller.noise * self.random.standard_normal(len(self.q_rows))
        for row, step in zip(self.q_rows, self.steps, strict=True):
            seen[row] = stepped(seen[row], step)
        rates = v.copy()
        if controller.rate_noise:
            rates[self.v_rows] += controller.rate_noise * self.random.standard_normal(len(self.v_rows))
        rates[self.v_rows] = stepped(rates[self.v_rows], controller.rate_resolution)
        if controller.rates == "differences":
            before = seen if self.last is None else self.last
            for i, j in self.rated:
                rates[j] = (seen[i] - before[i]) / controller.period
        self.last = seen.copy()
        return seen, rates


def stepped(value: Any, step: float | None) -> Any:
    """The nearest multiple of a step."""
    return value if step is None else step * np.round(value / step)


def held(t: float, measured: Measured) -> Any:
    """The function of a controller that nobody asks: whoever advances the run writes its commands."""
    raise AssertionError("never called")


# --- one run ------------------------------------------------------------------------------------------------------


class Sampler:
    """The controllers of one run: what is held for each, and which commands are on their way."""

    def __init__(self, handle: Prepared, begun: tuple[SampledState, ...] = ()) -> None:
        self.model, self._handle = handle.model, handle
        self.inputs: Array = handle.work.inputs
        firsts = np.cumsum([0, *(sum(self.widths(each).values()) for each in self.model.controllers)])
        # those with a law are sampled by kernels/control.py
        self._own = [(each, int(first)) for each, first in zip(self.model.controllers, firsts[:-1], strict=True)]
        self._own = [(each, first) for each, first in self._own if each.law is None and each.function is not held]
        for controller, first in self._own if not begun else ():
            self.inputs[first : first + sum(self.widths(controller).values())] = 0.0
        self.sensors = [Sensors(self.model, controller) for controller, _ in self._own]
        self._waiting: list[deque[tuple[float, Array]]] = [deque() for _ in self._own]
        self._counts = [0] * len(self._own)  # how often each has measured
        for k, state in enumerate(begun):
            self._take_up(k, state)

    def _take_up(self, k: int, state: SampledState) -> None:
        """Put a controller where a run before has left it, or a message: the state may come from a file."""
        controller, sensors = self._own[k][0], self.sensors[k]
        width, n_q = sum(self.widths(controller).values()), len(self.model.coordinates)
        try:
            if not isinstance(state.count, int) or not 0 <= state.count < LARGEST:
                raise ValueError
            sensors.random.bit_generator.state = state.random
            self._counts[k] = state.count
            self._waiting[k].extend((float(t), _finite(command, width)) for t, command in state.waiting)
            _finite([t for t, _ in self._waiting[k]], len(self._waiting[k]))
            sensors.last = None if state.measured is None else _finite(state.measured, n_q)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise ModelError(f"controller {controller.name!r}: what is kept of it is not as a run leaves it") from None

    def states(self) -> tuple[SampledState, ...]:
        """Of every controller, for a run that goes on from here."""
        return tuple(
            SampledState(
                count,
                tuple((t, tuple(command.tolist())) for t, command in waiting),
                dict(sensors.random.bit_generator.state),
                None if sensors.last is None else tuple(sensors.last.tolist()),
            )
            for count, waiting, sensors in zip(self._counts, self._waiting, self.sensors, strict=True)
        )

    def instant(self, t: float, y: Array) -> None:
        """Measure and ask where it is due at t; hold the commands that have arrived. Two instants that differ by
        rounding are one."""
        n_q, n_v = len(self.model.coordinates), len(self.model.velocities)
        y, arrived = y.copy(), self.inputs.copy()
        for k, ((controller, first), sensors) in enumerate(zip(self._own, self.sensors, strict=True)):
            widths, waiting = self.widths(controller), self._waiting[k]
            count = sum(widths.values())
            if self._counts[k] * controller.period <= t + SAME_INSTANT:
                self._counts[k] += 1
                q, v = sensors.read(y[:n_q], y[n_q : n_q + n_v])
                said = _command(controller, t, Measured(self, t, y, q, v), widths)
                waiting.append((t + controller.delay, said))
            while waiting and waiting[0][0] <= t + SAME_INSTANT:
                arrived[first : first + count] = waiting.popleft()[1]
        # only now, so that all controllers of an instant see the same
        self.inputs[:] = arrived

    def next_instant(self) -> float:
        """When something is measured, or a command arrives, next [s]; inf: never."""
        measured = (n * controller.period for n, (controller, _) in zip(self._counts, self._own, strict=True))
        arriving = (waiting[0][0] for waiting in self._waiting if waiting)
        return min((*measured, *arriving), default=np.inf)

    def outputs(self, t: float, y: Array) -> dict[str, Array]:
        """Outputs in a state, worked out beside the run, so that looking changes nothing."""
        return self._outputs.at(t, y, self.inputs, self._handle.work.phase)

    @cached_property
    def _outputs(self) -> OutputsNow:
        return OutputsNow(self._handle)

    def commands(self) -> dict[str, Array]:
        """Held commands by joint."""
        widths = {name: width for each in self.model.controllers for name, width in self.widths(each).items()}
        ends = np.cumsum(list(widths.values()))[:-1]
        return dict(zip(widths, np.split(self.inputs.copy(), ends), strict=True))

    def widths(self, controller: Controller) -> dict[str, int]:
        """How many commands each of its joints takes."""
        return {name: self._velocities[name] for name in controller.joints}

    @cached_property
    def _velocities(self) -> dict[str, int]:
        widths = {link.joint.name: len(link.joint.row.velocities) for link in self.model.links}
        return widths | {spring.name: 1 for spring in self.model.springs}


# --- what a controller says -------------------------------------------------------------------------------------


def _finite(values: Any, count: int) -> Array:
    """So many finite numbers, or a ValueError."""
    found = np.array(values, np.float64)
    if found.shape != (count,) or not np.all(np.isfinite(found)):
        raise ValueError
    return found


def wanted_command(controller: Controller, t: float, measured: Measured, widths: dict[str, int]) -> Array:
    """What a controller says; what goes wrong names the controller, the time and the line."""
    where = f"at t = {t:.9g} s: controller {controller.name!r}"
    said = guarded(lambda: _numbers(_ask(controller.function, t, measured), widths, where), controller.function, where)
    return np.asarray(said)


def _command(controller: Controller, t: float, measured: Measured, widths: dict[str, int]) -> Array:
    """What a controller says, as its motors take it."""
    command = stepped(wanted_command(controller, t, measured, widths), controller.command_resolution)
    if controller.limit is not None:
        command = np.clip(command, -np.array(controller.limit), np.array(controller.limit))
    return np.array(command)


def _ask(function: Any, t: float, measured: Measured) -> Any:
    return function(t, measured)


def _numbers(said: Any, widths: dict[str, int], where: str) -> Array:
    """Commands in the order of the joints, one finite number each."""
    count = sum(widths.values())
    if isinstance(said, Mapping):
        said = _in_order(said, widths, where)
    try:
        command = np.atleast_1d(as_numbers(said, "command"))
    except ModelError:
        raise CallbackError(f"{where} returned {quoted(said)}; return {count} finite numbers") from None
    if command.shape != (count,) or not np.all(np.isfinite(command)):
        raise CallbackError(f"{where} returned {quoted(command.tolist())}; return {count} finite numbers")
    return command


def _in_order(said: Mapping[Any, Any], widths: dict[str, int], where: str) -> list[Any]:
    """Commands by joint in the order of the joints."""
    if set(said) != set(widths):
        found = listed(repr(key) if isinstance(key, str) else quoted(key) for key in said) or "none"
        raise CallbackError(f"{where} returned commands for {found}; name all of {', '.join(map(repr, widths))}")
    values = []
    for name, width in widths.items():
        each = np.atleast_1d(np.asarray(said[name], dtype=object))
        if each.shape != (width,):
            raise CallbackError(
                f"{where} returned {quoted(said[name])} for {name!r}; return {width} finite numbers for it"
            )
        values += each.tolist()
    return values
