"""The line about the 3RRR robot on virtual springs: pliant against SciPy on numpy, at the same tolerance.

The opponent is written as one would in numpy: all three legs at once, torques from a spline."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.cases.parallel_3rrr import CASE
from pliant.cases.rose_path import Robot, exact_motion, rose
from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks.figures import Figure, Say
from pliant_benchmarks.models import Array
from pliant_benchmarks.timing import job, measure

STIFFNESS, DURATION = 1e6, 6.0  # [N/m], [s]
LOOSE = {"rtol": 1e-3, "atol": 1e-6}  # as in the paper
R0 = 0.05
SLOW = 3  # rounds


class NumpyRobot:
    """y = angles (3, 2), pose (3), and their rates."""

    def __init__(self) -> None:
        self.robot = robot = Robot()
        t = np.arange(0.0, DURATION + 0.1, 1e-3)
        spline = importlib.import_module("scipy.interpolate").CubicSpline
        self.torques = spline(t, exact_motion(robot, t, R0, "uniform").torques)
        self.pivots, self.vertices = robot.pivots, robot.vertices
        a1, a2 = 0.5 * robot.l1, 0.5 * robot.l2
        self.coupling = robot.m2 * robot.l1 * a2
        self.I11 = robot.I1 + robot.I2 + robot.m1 * a1**2 + robot.m2 * (robot.l1**2 + a2**2)
        self.I22 = robot.I2 + robot.m2 * a2**2

    def start(self) -> Array:
        exact = exact_motion(self.robot, np.zeros(1), R0, "uniform")
        (p,), (v,), _ = rose(np.zeros(1), R0, "uniform")
        return np.concatenate([exact.angles[0].ravel(), p, [0.0], exact.rates[0].ravel(), v, [0.0]])

    def rates(self, t: float, y: Array) -> Array:
        robot = self.robot
        th1, th2 = y[0:6:2], y[1:6:2]
        w1, w2 = y[9:15:2], y[10:15:2]
        th12 = th1 + th2
        s1, c1, s12, c12 = np.sin(th1), np.cos(th1), np.sin(th12), np.cos(th12)
        c, s = np.cos(y[8]), np.sin(y[8])
        sx = c * self.vertices[:, 0] - s * self.vertices[:, 1]
        sy = s * self.vertices[:, 0] + c * self.vertices[:, 1]
        # force of the springs on the leg tips
        fx = -STIFFNESS * (self.pivots[:, 0] + robot.l1 * c1 + robot.l2 * c12 - y[6] - sx)
        fy = -STIFFNESS * (self.pivots[:, 1] + robot.l1 * s1 + robot.l2 * s12 - y[7] - sy)
        across2 = robot.l2 * (c12 * fy - s12 * fx)
        h = self.coupling * np.sin(th2)
        k = self.coupling * np.cos(th2)
        Q1 = self.torques(t) + robot.l1 * (c1 * fy - s1 * fx) + across2 + h * (2.0 * w1 * w2 + w2**2)
        Q2 = across2 - h * w1**2
        I11, I12, I22 = self.I11 + 2.0 * k, self.I22 + k, self.I22
        det = I11 * I22 - I12**2
        out = np.empty(18)
        out[:9] = y[9:]
        out[9:15:2] = (I22 * Q1 - I12 * Q2) / det
        out[10:15:2] = (I11 * Q2 - I12 * Q1) / det
        out[15] = -fx.sum() / robot.mp
        out[16] = -fy.sum() / robot.mp
        out[17] = -(sx * fy - sy * fx).sum() / robot.Ip
        return out


def scipy_run() -> Callable[[], Array]:
    solve = importlib.import_module("scipy.integrate").solve_ivp
    robot = NumpyRobot()
    y0 = robot.start()
    return lambda: np.asarray(solve(robot.rates, (0.0, DURATION), y0, method="RK45", **LOOSE).y[6:9, -1])


def pliant_run(**options: Any) -> Callable[[], Array]:
    end = prepare_run(CASE.build(CASE.resolve({})), DURATION, **options).end
    return lambda: end()[0][6:]


def springs(say: Say) -> list[Figure]:
    """Times of the same 6 s; the error is the distance of the platform from its path.

    The peer meets pliant with its own integrator; two ways to close the loops meet each other with the same one."""
    say("running")
    soft = {"closure": "springs", "closure_stiffness": STIFFNESS, **LOOSE}
    fine = {"closure": "reduced", "formulation": "denoc", "rtol": 1e-6, "atol": 1e-8}
    runs = {
        "pliant, springs": pliant_run(**soft),
        "SciPy RK45 + numpy": scipy_run(),
        "pliant, springs, dopri5": pliant_run(**soft, integrator="dopri5"),
        "pliant, reduced denoc, dopri5": pliant_run(**fine, integrator="dopri5"),
    }
    p = rose(np.array([DURATION]), R0, "uniform")[0][0]
    errors = {name: float(np.linalg.norm(run()[:2] - p)) for name, run in runs.items()}
    say("timing")
    first, peer, same, reduced = runs
    times = measure({name: job(runs[name]) for name in (first, same, reduced)})
    times |= measure({peer: job(runs[peer])}, SLOW)
    return [
        Figure(first, times[first], error=errors[first], note="rtol 1e-3"),
        Figure(peer, times[peer], times[peer] / times[first], 100.0, True, errors[peer], "rtol 1e-3"),
        Figure(same, times[same], error=errors[same], note="rtol 1e-3"),
        Figure(reduced, times[reduced], times[reduced] / times[same], error=errors[reduced], note="rtol 1e-6"),
    ]
