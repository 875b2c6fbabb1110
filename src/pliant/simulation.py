"""simulate(model) -> Result: the pipeline from a model to recorded motion."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.dynamics import Prepared, as_state
from pliant.errors import ModelError, failure_advice
from pliant.methods import find_method
from pliant.model.model import Controller, Model
from pliant.result import Dense, Event, Result
from pliant.system.memory import Memory, new_memory
from pliant.system.status import Status
from pliant.system.tables import Power

Array = NDArray[np.float64]
ANGLE_ATOL = 1e-10
PAUSE_SECONDS = 0.1  # between two looks at Ctrl-C and the progress bar
RUN_KEYS = ("duration", "formulation", "integrator", "rtol", "atol", "step", "max_step", "max_steps", "sample")
Progress = Callable[[float, float], None]


def simulate(
    model: Model,
    duration: float | None = None,
    *,
    formulation: str = "auto",
    integrator: str = "auto",
    rtol: float = 1e-8,
    atol: float | None = None,
    step: float | None = None,
    max_step: float | None = None,
    max_steps: int = 10_000_000,
    sample: float | None = None,
    dense: bool = True,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Result:
    """Move the model from its start (or q0, v0) for `duration` seconds (default: the model's own).

    integrator: "auto" (dop853), "dopri5", "rkf45", "rk4" ...; rtol, atol: local error (atol in rad, and per model size for
    lengths; default 1e-10). step: fixed step [s] instead of error control. sample: rows on a grid of this period instead
    of at accepted steps. dense=False keeps no dense output (less memory, no at(t)). progress(t, t_end) is called a few
    times a second. A run that breaks down returns what it has, with status "failed" and a reason."""
    options = _check_options(model, duration, rtol, atol, step, max_step, max_steps, sample, dense)
    scheme = find_method("integrator", integrator, needs=() if step else ("adaptive",))
    find_method("formulation", formulation, needs=("acceleration",))
    state = as_state(model, model.q0 if q0 is None else q0, model.v0 if v0 is None else v0)
    begun = time.perf_counter()
    handle = Prepared(model, formulation)
    memory, advance = _ready(handle, scheme, state, options)
    compiled = time.perf_counter()
    recorded, status, reason = _run(handle, memory, advance, progress)
    settings = {"formulation": handle.method.name, "integrator": scheme.name, **options}
    walls = {"wall_s": time.perf_counter() - compiled, "compile_s": compiled - begun}
    return _result(handle, memory, recorded, status, reason, settings, walls)


def _check_options(
    model: Model,
    duration: float | None,
    rtol: float,
    atol: float | None,
    step: float | None,
    max_step: float | None,
    max_steps: int,
    sample: float | None,
    dense: bool,
) -> dict[str, Any]:
    """Every number in range, before anything is compiled."""
    duration = model.duration if duration is None else duration
    if duration is None:
        raise ModelError(f"model {model.name!r} has no duration of its own; say simulate(model, duration=...) in seconds")
    limits = {
        "duration": (duration, 0.0, np.inf, "[s]"),
        "rtol": (rtol, 1e-15, 1.0, "such as 1e-8"),
        "atol": (atol, 0.0, np.inf, "[rad], such as 1e-10"),
        "step": (step, 0.0, np.inf, "[s]"),
        "max_step": (max_step, 0.0, np.inf, "[s]"),
        "max_steps": (max_steps, 0, np.inf, ""),
        "sample": (sample, 0.0, np.inf, "[s]"),
    }
    for name, (value, low, high, unit) in limits.items():
        if value is None:
            continue
        if isinstance(value, (str, bool)) or not np.isscalar(value) or not low < value < high:
            above = f"above {low:g}" + (f" and below {high:g}" if np.isfinite(high) else "")
            raise ModelError(f"{name}: {value!r} found; give a number {above} {unit}".rstrip())
    if sample is not None and not dense:
        raise ModelError("sample needs the dense output; leave dense=True")
    return {
        "duration": float(duration),
        "rtol": float(rtol),
        "atol": ANGLE_ATOL if atol is None else float(atol),
        "step": step,
        "max_step": max_step,
        "max_steps": int(max_steps),
        "sample": sample,
        "dense": dense,
    }


def model_size(model: Model) -> float:
    """Longest way from a root to a mass centre along the seats of the joints [m]: what "small" means for lengths."""
    reach: list[float] = []
    size = 0.0
    for link in model.links:
        before = reach[link.parent] + float(np.linalg.norm(link.seat.position)) if link.parent >= 0 else 0.0
        reach.append(before)
        extent = float(np.sqrt(np.trace(link.body.inertia_about_origin) / link.body.total_mass)) if link.body.total_mass else 0.0
        size = max(size, before + extent)
    return size or 1.0


def _tolerances(model: Model, n_z: int, atol: float) -> Array:
    """atol per component of y: angles as given, lengths times the model's size, quadratures uncontrolled."""
    size = model_size(model)
    of_q, of_v = [], []
    for link in model.links:
        row = link.joint.row
        if row.has_plain_rates:
            scales = [1.0 if is_angle else size for is_angle in row.angles]
            of_q += scales
            of_v += scales
        else:
            translations = [size] * (len(row.coordinates) - 4)
            of_q += [*translations, 1.0, 1.0, 1.0, 1.0]
            of_v += [*translations, 1.0, 1.0, 1.0]
    return np.concatenate([atol * np.array(of_q + of_v), np.full(n_z, np.inf)])


def _ready(handle: Prepared, scheme: Any, state: tuple[Array, Array], options: dict[str, Any]) -> tuple[Memory, Any]:
    """Memory at the start, and the compiled loop."""
    from pliant.kernels import _jit, dynamics, events
    from pliant.kernels.integrators import loop, runge_kutta, tableaus

    model, packed, system, work = handle.model, handle.packed, handle.system, handle.work
    run = work.run[0]
    run.derivative = _jit.address(dynamics.derivative)
    run.events, run.switch = _jit.address(events.event_functions), _jit.address(events.switch)
    n_z = len(system.quadratures)
    quaternions = [link.q_slice.stop - 4 for link in model.links if link.joint.kind in ("spherical", "floating")]
    memory = new_memory(
        np.concatenate([*state, np.zeros(n_z)]),
        0.0,
        options["duration"],
        tableaus.TABLEAUS[scheme.name],
        step=_jit.address(scheme.load()),
        interpolant=_jit.address(runge_kutta.interpolate),
        rtol=options["rtol"],
        atol=_tolerances(model, n_z, options["atol"]),
        h=options["step"] or 0.0,
        is_fixed=options["step"] is not None,
        max_step=options["max_step"] or np.inf,
        boundaries=packed.breakpoints,
        samples=_sample_times(model.controllers, options["duration"]),
        quaternions=quaternions,
        n_events=len(system.events),
        n_inputs=packed.n_inputs,
        wants_dense=options["dense"],
        max_steps=options["max_steps"],
    )
    handle.start_phase(memory.y)
    return memory, _jit.entry(loop.advance)


# --- the run --------------------------------------------------------------------------------------------------


@dataclass
class Recorded:
    """Buffers copied away from the loop."""

    rows: list[Array] = field(default_factory=list)
    starts: list[Array] = field(default_factory=list)
    terms: list[Array] = field(default_factory=list)
    log: list[tuple[int, int, float]] = field(default_factory=list)

    def take(self, memory: Memory) -> None:
        """Copy what the loop recorded and hand the buffers back empty."""
        loop = memory.loop[0]
        self.rows.append(memory.rows[: loop.n_rows].copy())
        self.starts.append(memory.piece_times[: loop.n_pieces].copy())
        self.terms.append(memory.piece_terms[: loop.n_pieces].copy())
        self.log += [(int(row.event), int(row.direction), float(row.t)) for row in memory.log[: loop.n_log]]
        loop.n_rows = loop.n_pieces = loop.n_log = 0


class Measured:
    """What a controller sees: the state at its sampling instant."""

    def __init__(self, model: Model, q: Array, v: Array) -> None:
        self.model, self.q, self.v = model, q, v

    def __getitem__(self, joint: str) -> tuple[Any, Any]:
        """(q, v) of one joint: numbers if it has one coordinate, else arrays."""
        for link in self.model.links:
            if link.joint.name == joint:
                q, v = self.q[link.q_slice], self.v[link.v_slice]
                return (float(q[0]), float(v[0])) if len(q) == 1 else (q, v)
        raise KeyError(f"no joint {joint!r}; there are {', '.join(link.joint.name for link in self.model.links)}")


def _sample_times(controllers: tuple[Controller, ...], duration: float) -> Array:
    return np.concatenate([np.zeros(0), *(np.arange(0.0, duration, c.period) for c in controllers)])


def _call_controllers(handle: Prepared, t: float, y: Array) -> None:
    """Ask every controller that is due at t and hold what it says."""
    model, inputs = handle.model, handle.work.inputs
    n_q, n_v = len(model.coordinates), len(model.velocities)
    measured = Measured(model, y[:n_q].copy(), y[n_q : n_q + n_v].copy())
    width = {link.joint.name: len(link.joint.row.velocities) for link in model.links}
    first = 0
    for controller in model.controllers:
        count = sum(width[name] for name in controller.joints)
        if abs(t / controller.period - round(t / controller.period)) < 1e-9:
            command = np.atleast_1d(np.asarray(controller.function(t, measured), dtype=float))  # type: ignore[operator]
            if command.shape != (count,) or not np.all(np.isfinite(command)):
                raise ValueError(f"it returned {command.tolist()}; {count} finite numbers expected")
            inputs[first : first + count] = command
        first += count


def _run(handle: Prepared, memory: Memory, advance: Any, progress: Progress | None) -> tuple[Recorded, Status, str]:
    """Drive the resumable loop to its end; Ctrl-C and failing controllers end it with what was reached."""
    recorded, loop = Recorded(), memory.loop[0]
    loop.budget = 200
    try:
        while True:
            entered = time.perf_counter()
            status = Status(advance(handle.system, handle.work, memory))
            if status == Status.SAMPLE:
                _call_controllers(handle, float(loop.t), memory.y)
                continue
            recorded.take(memory)
            if status == Status.PAUSE:
                spent = time.perf_counter() - entered
                loop.budget = int(min(1e6, max(10, loop.budget * min(4.0, PAUSE_SECONDS / max(spent, 1e-9)))))
                if progress is not None:
                    progress(float(loop.t), float(loop.t_end))
            elif status != Status.BUFFER_FULL:
                return recorded, status, ""
    except KeyboardInterrupt:
        recorded.take(memory)
        return recorded, Status.INTERRUPTED, ""
    except Exception as error:  # a user's controller may raise anything; the run keeps what it has
        recorded.take(memory)
        return recorded, Status.CONTROLLER_FAILED, f"a controller failed: {type(error).__name__}: {error}"


# --- the result -----------------------------------------------------------------------------------------------


def _result(
    handle: Prepared,
    memory: Memory,
    recorded: Recorded,
    status: Status,
    reason: str,
    settings: dict[str, Any],
    walls: dict[str, float],
) -> Result:
    model, loop = handle.model, memory.loop[0]
    rows = np.concatenate(recorded.rows)
    pieces = np.concatenate(recorded.starts)
    dense = Dense(pieces[:, 0].copy(), pieces[:, 1].copy(), np.concatenate(recorded.terms)) if settings["dense"] else None
    events = tuple(
        Event(handle.packed.event_names[k], t, "rising" if direction > 0 else "falling")
        for k, direction, t in recorded.log
    )
    if not reason:
        reason = failure_advice(status, float(loop.t), _culprit(handle, status, events))
    event_error = handle.event_error(rows, recorded.log)
    if settings["sample"] is not None and dense is not None:
        rows = _on_grid(rows, dense, settings["sample"], len(handle.system.quadratures), model)
    n_q, n_v, n_z = len(model.coordinates), len(model.velocities), len(handle.system.quadratures)
    t, q, v, z, inputs = np.split(rows, np.cumsum([1, n_q, n_v, n_z]), axis=1)
    t, q, v, inputs = t[:, 0].copy(), q.copy(), v.copy(), inputs.copy()
    energy = handle.energies(q, v)
    for k, kind in enumerate(handle.system.quadratures):
        energy[f"work_{Power(kind).name.lower()}"] = z[:, k].copy()
    outputs = handle.outputs(t, q, v, inputs)
    audit = {"energy_residual": energy_residual(energy), "constraint_drift": _quaternion_drift(model, q)}
    if handle.conserves_momentum():
        audit["momentum_drift"] = handle.momentum_drift(q, v)
    if events:
        audit["event_error"] = event_error
    stats = {
        "evaluations": int(loop.n_evaluations),
        "steps": int(loop.n_steps),
        "rejected": int(loop.n_rejected),
        "events": int(loop.n_events),
        **walls,
    }
    words = {Status.DONE: "done", Status.STOPPED: "stopped", Status.INTERRUPTED: "interrupted"}
    word = words.get(status, "failed")
    return Result(model, t, q, v, energy, outputs, events, word, reason, audit, stats, settings, inputs, dense)


def _culprit(handle: Prepared, status: Status, events: tuple[Event, ...]) -> str:
    if status == Status.STOPPED and events:
        return events[-1].name
    return handle.model.links[int(handle.work.run[0].body)].body.name


def _on_grid(rows: Array, dense: Dense, period: float, n_z: int, model: Model) -> Array:
    """Rows at multiples of the period and at the end, from the dense output; held commands from the row before."""
    from pliant.system.memory import evaluate_dense

    if len(dense.starts) == 0:
        return rows
    first, last = rows[0, 0], rows[-1, 0]
    times = np.append(np.arange(first, last, period), last)
    if len(times) > 1 and times[-1] - times[-2] < 1e-9 * period:
        times = np.delete(times, -2)
    y = evaluate_dense(dense.starts, dense.steps, dense.terms, times)
    for link in model.links:
        if link.joint.kind in ("spherical", "floating"):
            four = slice(link.q_slice.stop - 4, link.q_slice.stop)
            y[:, four] /= np.linalg.norm(y[:, four], axis=1, keepdims=True)
    held = rows[np.searchsorted(rows[:, 0], times, side="right") - 1, 1 + y.shape[1] :]
    return np.column_stack([times, y, held])


def energy_residual(energy: dict[str, Array]) -> float:
    """max |E - E0 - works| / max (T + V_elastic + |V_gravity - V_gravity(0)|)."""
    total = energy["kinetic"] + energy["gravity"] + energy["elastic"]
    works = sum((values for name, values in energy.items() if name.startswith("work_")), np.zeros(len(total)))
    scale = np.max(energy["kinetic"] + energy["elastic"] + np.abs(energy["gravity"] - energy["gravity"][0]))
    error = np.max(np.abs(total - total[0] - works))
    return float(error / scale) if scale > 0 else float(error)


def _quaternion_drift(model: Model, q: Array) -> float:
    drift = 0.0
    for link in model.links:
        if link.joint.kind in ("spherical", "floating"):
            four = q[:, link.q_slice.stop - 4 : link.q_slice.stop]
            drift = max(drift, float(np.max(np.abs(np.linalg.norm(four, axis=1) - 1.0))))
    return drift
