"""The line about stiff equations: six rods with stiff springs and dampers, by Radau's method of several engines.

The peers integrate the rods in absolute angles with a compiled right-hand side written for them here: mass matrix
M_ij = c_ij cos(a_i - a_j), factored in place, no memory taken; about as fast as pliant's own evaluation."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks import models, peers
from pliant_benchmarks.figures import Figure, Say
from pliant_benchmarks.models import Array, Serial
from pliant_benchmarks.peers import Engine, Setting, adaptive
from pliant_benchmarks.runs import choose, compare
from pliant_benchmarks.timing import ROUNDS

SPRING, DAMPER = 2e3, 300.0  # [N m/rad], [N m s/rad]
DURATION = 2.0  # [s]
STATE_ERROR = 1e-6  # [rad, rad/s]


def stiff12() -> Serial:
    return replace(models.chain(6), name="stiff12", q0=(-0.3, 0.0, 0.0, 0.0, 0.0, 0.0))


def stiff_model(serial: Serial) -> Any:
    model = models.pliant_model(serial)
    return replace(model, joints=tuple(replace(joint, stiffness=SPRING, damping=DAMPER) for joint in model.joints))


def _pliant(serial: Serial) -> Callable[[Setting], peers.Run]:
    model = stiff_model(serial)

    def ready(setting: Setting) -> peers.Run:
        end = prepare_run(model, DURATION, integrator=setting.scheme, rtol=setting.rtol, atol=setting.atol).end
        return lambda: np.concatenate(end())

    return ready


# --- the peers' right-hand side -----------------------------------------------------------------------------------


def compiled_rates(serial: Serial) -> Any:
    """rates(dy, y, room): the rods in absolute angles; room for 3 n + n^2 numbers."""
    n, m, length, s = serial.count, serial.mass, serial.way[0], serial.com[0]
    beyond = n - 1 - np.arange(n)
    c = m * length * (s + length * np.minimum.outer(beyond, beyond))
    c[np.diag_indices(n)] = serial.inertia[2] + m * (s**2 + length**2 * beyond)
    c, weight = np.ascontiguousarray(c, np.float64), -serial.gravity[1] * m * (s + length * beyond)

    def rates(dy: Any, y: Any, room: Any) -> None:
        cosine, sine, torque, matrix = 0, n, 2 * n, 3 * n
        for i in range(n):
            dy[i] = y[n + i]
            room[cosine + i], room[sine + i] = math.cos(y[i]), math.sin(y[i])
        for i in range(n):
            turn = y[i] - (y[i - 1] if i > 0 else 0.0)
            rate = y[n + i] - (y[n + i - 1] if i > 0 else 0.0)
            room[torque + i] = -SPRING * turn - DAMPER * rate
        for i in range(n):
            ci, si = room[cosine + i], room[sine + i]
            total = room[torque + i] - (room[torque + i + 1] if i + 1 < n else 0.0) - weight[i] * ci
            for j in range(n):
                cj, sj, w = room[cosine + j], room[sine + j], y[n + j]
                total -= c[i, j] * (si * cj - ci * sj) * w * w
                if j <= i:
                    room[matrix + n * i + j] = c[i, j] * (ci * cj + si * sj)
            dy[n + i] = total
        # L D L^T
        for i in range(n):
            row = matrix + n * i
            for j in range(i):
                other = matrix + n * j
                total = room[row + j]
                for k in range(j):
                    total -= room[row + k] * room[other + k]
                room[row + j] = total
            for j in range(i):
                factor = room[row + j] * room[matrix + n * j + j]
                room[row + i] -= factor * room[row + j]
                dy[n + i] -= factor * dy[n + j]
                room[row + j] = factor
            room[row + i] = 1.0 / room[row + i]
        for i in range(n):
            dy[n + i] *= room[matrix + n * i + i]
        for i in range(n - 1, -1, -1):
            for k in range(i + 1, n):
                dy[n + i] -= room[matrix + n * k + i] * dy[n + k]

    return importlib.import_module("numba").njit(error_model="numpy")(rates)


def _relative(y: Array) -> Array:
    """Joint angles and rates from absolute ones."""
    n = len(y) // 2
    return np.concatenate([np.diff(y[:n], prepend=0.0), np.diff(y[n:], prepend=0.0)])


def _start(serial: Serial) -> tuple[Array, Array]:
    n = serial.count
    return np.concatenate([np.cumsum(serial.q0), np.zeros(n)]), np.zeros(3 * n + n * n)


def _scipy(serial: Serial) -> Callable[[Setting], peers.Run]:
    solve, rates = importlib.import_module("scipy.integrate").solve_ivp, compiled_rates(serial)
    y0, room = _start(serial)

    def slopes(t: float, y: Array) -> Array:
        dy = np.empty(len(y))
        rates(dy, y, room)
        return dy

    def ready(setting: Setting) -> peers.Run:
        def run() -> Array:
            found = solve(slopes, (0.0, DURATION), y0, method=setting.scheme, rtol=setting.rtol, atol=setting.atol)
            return _relative(found.y[:, -1])

        return run

    return ready


def _cyrk(serial: Serial) -> Callable[[Setting], peers.Run]:
    """The solver in C++ with the right-hand side as a C callback, entered from compiled code."""
    cyrk, numba, rates = peers.peer("CyRK"), importlib.import_module("numba"), compiled_rates(serial)
    y0, room = _start(serial)

    def callback(dy: Any, t: Any, y: Any, room: Any) -> None:
        rates(dy, y, room)

    function = cyrk.cyjit(callback)
    address, solve = function.address, cyrk.nbsolve2_ivp

    def end(address: Any, y0: Any, room: Any, rtol: Any, atol: Any, out: Any) -> Any:
        found = solve(address, (0.0, DURATION), y0, method="RADAU", args=room, rtol=rtol, atol=atol)
        is_ok = found.success
        if is_ok:
            y = found.y
            for i in range(out.shape[0]):
                out[i] = y[i, y.shape[1] - 1]
        found.free()
        return is_ok

    end = numba.njit(end)

    def ready(setting: Setting) -> peers.Run:
        def run(owner: Any = function) -> Array:
            out = np.empty(len(y0))
            if not end(address, y0, room, setting.rtol, setting.atol, out):
                raise RuntimeError("CyRK gave up")
            return _relative(out)

        return run

    return ready


PLIANT_STIFF = Engine("pliant", (), adaptive("radau"), _pliant)
CYRK_STIFF = Engine("CyRK RADAU", ("CyRK",), adaptive("RADAU"), _cyrk)
SCIPY_STIFF = Engine("SciPy Radau", ("scipy",), adaptive("Radau"), _scipy)


def stiff(say: Say) -> list[Figure]:
    serial = stiff12()
    reference = PLIANT_STIFF.prepare(serial)(Setting("dop853", 1e-13, 1e-13))()
    choices = {}
    for engine in (PLIANT_STIFF, CYRK_STIFF, SCIPY_STIFF):
        say(f"sweeping {engine.name}")
        choices[engine.name] = choose(engine, serial, reference, STATE_ERROR)
    say("timing")
    return compare(choices, {CYRK_STIFF.name: 1 / 1.2, SCIPY_STIFF.name: 20.0}, ROUNDS)
