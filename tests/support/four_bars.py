"""Mechanisms with dead points, each with the one equation of its motion: the N-four-bar of the IFToMM benchmark, a
parallelogram of three different rods, a slider-crank whose slider goes through the pivot of its crank."""

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

import pliant
from pliant import Body, Frame, Joint, Loop, Model, Rod

GRAVITY = 9.81
DOWN = (0.0, -GRAVITY, 0.0)


def four_bars(n, speed=1.0, angle=0.5 * np.pi):
    """n loops: n + 1 rods on the ground, n rods over them, all of 1 m and 1 kg; the tips begin with this speed."""
    bodies, joints, loops = [], [], []
    for k in range(n + 1):
        bodies.append(Body(f"crank{k}", mass=1.0, shape=Rod(1.0)))
        foot = Frame("world", (float(k), 0.0, 0.0))
        joints.append(Joint(f"foot{k}", "revolute", f"crank{k}", parent=foot, q0=angle, v0=-speed))
    for k in range(n):
        bodies.append(Body(f"bar{k}", mass=1.0, shape=Rod(1.0)))
        tip = Frame(f"crank{k}", (1.0, 0.0, 0.0))
        joints.append(Joint(f"top{k}", "revolute", f"bar{k}", parent=tip, q0=-angle, v0=speed))
        over = Frame(f"crank{k + 1}", (1.0, 0.0, 0.0))
        loops.append(Loop(f"pin{k + 1}", "revolute", first=over, second=Frame(f"bar{k}", (1.0, 0.0, 0.0))))
    return Model(f"{n} four-bars", tuple(bodies), tuple(joints), gravity=DOWN, loops=tuple(loops))


def parallelogram(speed, masses=(1.0, 2.0, 3.0), arm=0.4, angle=1.0, **more):
    """Crank and rocker of 0.4 m over a ground of 1 m, all rods of other masses: at the dead points the open tree would
    part."""
    bodies = [
        Body(name, mass=m, shape=Rod(x))
        for name, m, x in zip(("crank", "bar", "rocker"), masses, (arm, 1.0, arm), strict=True)
    ]
    joints = (
        Joint("motor", "revolute", "crank", q0=angle, v0=speed),
        Joint("knee", "revolute", "bar", parent=Frame("crank", (arm, 0, 0)), q0=-angle, v0=-speed),
        Joint("pivot", "revolute", "rocker", parent=Frame("world", (1.0, 0, 0)), q0=angle, v0=speed),
    )
    pin = Loop("pin", "revolute", first=Frame("rocker", (arm, 0, 0)), second=Frame("bar", (1.0, 0, 0)))
    return Model("parallelogram", tuple(bodies), joints, gravity=DOWN, loops=(pin,), **more)


def slider_crank(speed, arm=0.5, angle=0.3):
    """Crank and rod of equal length: the slider is at 2 arm cos(angle), or, on the other branch, stays in the pivot."""
    bodies = (
        Body("crank", mass=1.0, shape=Rod(arm)),
        Body("rod", mass=1.5, shape=Rod(arm)),
        Body("block", mass=2.0, inertia=(0.1, 0.1, 0.1)),
    )
    place, rate = 2.0 * arm * np.cos(angle), -2.0 * arm * np.sin(angle) * speed
    joints = (
        Joint("crank", "revolute", "crank", q0=angle, v0=speed),
        Joint("elbow", "revolute", "rod", parent=Frame("crank", (arm, 0, 0)), q0=-2.0 * angle, v0=-2.0 * speed),
        Joint("slide", "prismatic", "block", axis=(1, 0, 0), q0=place, v0=rate),
    )
    pin = Loop("pin", "revolute", first="block", second=Frame("rod", (arm, 0, 0)))
    return Model("slider-crank", bodies, joints, gravity=DOWN, loops=(pin,))


def swing(inertia: float, moment: float) -> Callable:
    """inertia angle'' = -moment cos(angle)"""
    return lambda t, y: [y[1], -moment * np.cos(y[0]) / inertia]


def swing_of_four_bars(n):
    return swing((n + 1) / 3.0 + n, GRAVITY * (0.5 * (n + 1) + n))


def swing_of_parallelogram(masses=(1.0, 2.0, 3.0), arm=0.4):
    crank, bar, rocker = masses
    return swing((crank / 3.0 + bar + rocker / 3.0) * arm**2, GRAVITY * arm * (0.5 * crank + bar + 0.5 * rocker))


def swing_of_slider_crank(arm=0.5):
    """(I angle'^2)/2 + weight; centre of the rod at (1.5 cos, 0.5 sin) arm, slider at 2 arm cos."""

    def rates(t, y):
        s, c = np.sin(y[0]), np.cos(y[0])
        inertia = arm**2 * (1.0 / 3.0 + 1.5 * (2.25 * s**2 + 0.25 * c**2 + 1.0 / 12.0) + 8.0 * s**2)
        slope = arm**2 * (1.5 * 4.0 + 16.0) * s * c
        return [y[1], (-0.5 * slope * y[1] ** 2 - GRAVITY * arm * (0.5 + 0.75) * c) / inertia]

    return rates


def exact(rates, start, times):
    """Rows of angle and rate, integrated at rounding."""
    if len(times) == 1:
        return np.array([start], float)
    return solve_ivp(rates, (0.0, times[-1]), start, method="DOP853", rtol=2.3e-14, atol=1e-15, t_eval=times).y.T


def errors(found, angles, rates, start):
    """Largest error of the angles (columns of q) over all rows, and of their rates over the largest."""
    wanted = exact(rates, start, found.t)
    off = np.max(np.abs(found.q[:, angles] - wanted[:, :1]))
    return off, np.max(np.abs(found.v[:, angles] - wanted[:, 1:])) / max(1.0, np.max(np.abs(wanted[:, 1])))


def run_four_bars(n, speed, duration, **options) -> tuple[pliant.Result, float]:
    """The run, and its largest error over all rows it has: cranks against the one equation, bars against level."""
    found = pliant.simulate(four_bars(n, speed), duration, **options)
    cranks = slice(0, n + 1)
    off = max(errors(found, cranks, swing_of_four_bars(n), [0.5 * np.pi, -speed]))
    return found, max(off, float(np.max(np.abs(found.q[:, n + 1 :] + found.q[:, :n]))))
