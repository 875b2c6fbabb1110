"""Integrators without a model: small differential equations, driven as a run drives them."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from pliant.kernels._jit import DERIVATIVE, EVENTS, SWITCH, address, entry, kernel
from pliant.kernels.integrators.advance import advance
from pliant.kernels.integrators.tableaus import TABLEAUS
from pliant.kernels.tables import Pinned
from pliant.methods import INTEGRATORS, find_method
from pliant.system.memory import Scheme, Sizes, StepOptions, evaluate_dense, new_memory
from pliant.system.newton import Unknowns, put_rule
from pliant.system.status import Status
from pliant.system.tables import EVENT, empty_system, rows
from pliant.system.work import new_work

ROWS = {row.name: row for row in INTEGRATORS}


@kernel(DERIVATIVE)
def pendulum(system, work, t, y, ydot):
    ydot[0] = y[1]
    ydot[1] = -math.sin(y[0]) + 0.1 * math.cos(t)
    return 0


@kernel(DERIVATIVE)
def spin(system, work, t, y, ydot):
    """Torque-free top: quaternion x y z w (child to parent), angular velocity in body axes."""
    wx, wy, wz = y[4], y[5], y[6]
    ydot[0] = 0.5 * (y[3] * wx + y[1] * wz - y[2] * wy)
    ydot[1] = 0.5 * (y[3] * wy + y[2] * wx - y[0] * wz)
    ydot[2] = 0.5 * (y[3] * wz + y[0] * wy - y[1] * wx)
    ydot[3] = 0.5 * (-y[0] * wx - y[1] * wy - y[2] * wz)
    ydot[4] = (2.0 - 3.0) / 1.0 * wy * wz
    ydot[5] = (3.0 - 1.0) / 2.0 * wz * wx
    ydot[6] = (1.0 - 2.0) / 3.0 * wx * wy
    return 0


@kernel(DERIVATIVE)
def sprung(system, work, t, y, ydot):
    """An oscillator; the square of its frequency is an input."""
    ydot[0] = y[1]
    ydot[1] = -work.inputs[0] * y[0]
    return 0


@kernel(EVENTS)
def heights(system, work, t, y, ydot, g, gdot):
    for k in range(g.shape[0]):
        g[k] = y[2 * k]
        gdot[k] = y[2 * k + 1]
    return 0


@kernel(SWITCH)
def go_on(system, work, t, y, fired):
    return 0


class Run(NamedTuple):
    status: Status
    t: Any
    y: Any
    inputs: Any
    starts: Any
    steps: Any
    terms: Any
    log: list[tuple[int, int, float]]  # event, direction, t
    memory: Any
    reasons: list[Status]

    def at(self, t):
        return evaluate_dense(self.starts, self.steps, self.terms, t)


def drive(
    derivative,
    y,
    t_end,
    method="dop853",
    *,
    events=heights,
    directions=(),
    fractional=(),
    switch=go_on,
    controller=None,
    n_inputs=0,
    parameters=None,
    capacity=1024,
    wants_rows=True,
    wants_dense=True,
    **options,
):
    """Run to the end as simulate.py does: copy full buffers away, call the controller, go on.

    States are pairs of coordinate and rate, as second-order methods need them. fractional: events at which a force
    begins as a fractional power."""
    system = empty_system()._replace(events=rows(len(directions), EVENT))
    system.events.direction[:] = directions
    system.events.is_fractional[list(fractional)] = 1
    work = new_work(system, n_inputs)
    calls = work.calls[0]
    calls.derivative = address(derivative)
    calls.events, calls.switch = address(events), address(switch)
    if ROWS[method].kind == "second-order":
        options = {"unknowns": in_pairs(len(y))} | options
    scheme = Scheme(TABLEAUS[method], address(ROWS[method].load()), address(ROWS[method].load("interpolate")))
    sizes = Sizes(
        n_y=len(y),
        n_events=len(directions),
        n_inputs=n_inputs,
        n_rows=capacity if wants_rows else 0,
        n_pieces=capacity if wants_dense else 0,
    )
    of_steps = {name: options.pop(name) for name in StepOptions.__dataclass_fields__ if name in options}
    memory = new_memory(y, (0.0, t_end), scheme, sizes, StepOptions(**of_steps), **options)
    if ROWS[method].kind == "second-order":
        put_rule(memory.newton[0], find_method("integrator", method, **(parameters or {})).step_rule)
    stepping = memory.stepping[0]
    recorded, times, terms, log, reasons = [], [], [], [], []
    kept = [Pinned(tables) for tables in (system, work, memory)]
    while True:
        status = Status(entry(advance)(*(pinned.ref for pinned in kept)))
        reasons.append(status)
        if status == Status.SAMPLE:
            work.inputs[:] = controller(stepping.t, memory.y)
        if status == Status.BUFFER_FULL or status >= Status.STOPPED or status == Status.DONE:
            recorded.append(memory.rows[: stepping.n_rows].copy())
            times.append(memory.piece_times[: stepping.n_pieces].copy())
            terms.append(memory.piece_terms[: stepping.n_pieces].copy())
            log += [(int(r.event), int(r.direction), float(r.t)) for r in memory.log[: stepping.n_log]]
            stepping.n_rows = stepping.n_pieces = stepping.n_log = stepping.n_phases = 0
        if status == Status.DONE or status >= Status.STOPPED:
            break
    table, times = np.concatenate(recorded), np.concatenate(times)
    n = 1 + len(memory.y)
    return Run(
        status,
        table[:, 0],
        table[:, 1:n],
        table[:, n:],
        times[:, 0],
        times[:, 1],
        np.concatenate(terms),
        log,
        memory,
        reasons,
    )


def in_pairs(n):
    return Unknowns(range(1, n, 2), [(i, i + 1) for i in range(0, n, 2)])


def fixed(method, h):
    """Options of fixed steps, Newton's method as exact as it can be."""
    return {"is_fixed": True, "h": h} | ({"rtol": 1e-13, "atol": 1e-13} if TABLEAUS[method].n_factors else {})


def pendulum_rate(t, y):
    return [y[1], -math.sin(y[0]) + 0.1 * math.cos(t)]


def reference(y, t_end, method="DOP853", rtol=3e-14, atol=1e-15, dense_output=False, events=None):
    """The pendulum by scipy."""
    return solve_ivp(
        pendulum_rate, (0.0, t_end), y, method=method, rtol=rtol, atol=atol, dense_output=dense_output, events=events
    )


def slope(h, errors):
    return np.polyfit(np.log(h), np.log(errors), 1)[0]
