"""Order of accuracy on rotations in space, and what a long swing keeps of its energy, under every integrator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.lab.experiment import Outcome
from pliant.lab.integrator_methods import TIGHT, chosen_methods, made
from pliant.methods.integrators import Dop853, Integrator
from pliant.model.bodies import Body, Frame, Rod
from pliant.model.joints import Joint
from pliant.model.model import Model
from pliant.report_types import Finding, Lines

Array = NDArray[np.float64]

DURATION = 1.0  # [s]
LONGEST = 0.1  # [s] of the steps
N_HALVINGS = 9
ROUNDING, COARSE = 3e-11, 0.03  # errors between which the order shows
SWING = math.pi / 2  # [rad] of the pendulum
MAX_DRAWN = 1.5  # of the energy at the start


def ball_chain() -> Model:
    """Two rods on ball joints that spin and swing."""
    inertia = (0.09, 0.0, 0.0), (0.0, 0.08, 0.0), (0.0, 0.0, 0.01)
    rods = tuple(Body(name, 1.0, com=(0.0, 0.0, -0.5), inertia=inertia) for name in ("upper", "lower"))
    joints = (
        Joint("shoulder", "spherical", "upper", v0=(2.0, 1.0, 3.0)),
        Joint("elbow", "spherical", "lower", Frame("upper", (0.0, 0.0, -1.0)), v0=(-1.0, 2.0, 0.5)),
    )
    return Model("ball chain", rods, joints, gravity=(0, 0, -9.81))


def errors_of(method: Integrator, model: Model, exact: Array) -> list[tuple[float, float]]:
    """(step, error of the coordinates) while the steps are halved, until rounding."""
    found = []
    for k in range(N_HALVINGS):
        step = LONGEST / 2**k
        run = made(model, DURATION, method, step=step, dense=False, **TIGHT)
        if run.is_ok:
            found.append((step, float(np.abs(run.q[-1] - exact).max())))
            if found[-1][1] < ROUNDING:
                break
    return found


def order_of(errors: list[tuple[float, float]]) -> float:
    """Slope of the last three before rounding; NaN: not to be seen."""
    good = np.array([(step, error) for step, error in errors if ROUNDING < error < COARSE][-3:])
    if len(good) < 2:
        return math.nan
    steps, values = np.log(good).T
    return float(np.polyfit(steps, values, 1)[0])


def orders(settings: Mapping[str, Any]) -> tuple[Outcome, ...]:
    model = ball_chain()
    exact = made(model, DURATION, Dop853(), rtol=1e-13, atol=1e-14).q[-1]
    numbers, rows, curves = [], [], []
    for label, method in chosen_methods(settings).items():
        errors = errors_of(method, model, exact)
        order = order_of(errors)
        numbers.append({"method": label, "order": order, "steps": errors})
        if math.isnan(order):
            rows.append((label, "none", "", ""))
        else:
            step, error = min(errors, key=lambda pair: pair[1])
            rows.append((label, f"{order:.2f}", f"{error:.1e}", f"{1e3 * step:.3g}"))
            steps, values = np.array(errors).T
            curves.append((label, -np.log10(steps), values))
    text = (
        "Two rods on ball joints spin and swing for a second, with steps halved again and again; the error is that of "
        "the coordinates at the end against dop853 at rtol 1e-13. The order is the slope before rounding. Rotations "
        "are composed, not added, so no method loses its order on them. adams begins with low orders whatever its "
        "highest, which fixed steps keep in the error for good."
    )
    finding = Finding(
        "Order of accuracy",
        text,
        ("method", "order", "smallest error [rad]", "with steps of [ms]"),
        tuple(rows),
        (Lines("Error against the step", "rad", "-log10 of the step", "s", tuple(curves), is_log=True),),
        (1, 2, 3),
    )
    return (Outcome(finding, numbers),)


def pendulum() -> Model:
    """A rod that swings from the horizontal."""
    rod = Body("rod", 1.0, shape=Rod(1.0))
    joint = Joint("hinge", "revolute", "rod", q0=-math.pi / 2 + SWING)
    return Model("pendulum", (rod,), (joint,), gravity=(0, -9.81, 0))


def pendulum_period() -> float:
    """2 pi sqrt(2/3 l/g) / agm(1, cos(swing/2)) [s]"""
    a, b = 1.0, math.cos(0.5 * SWING)
    while abs(a - b) > 1e-15:
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return 2.0 * math.pi * math.sqrt(2.0 / 3.0 / 9.81) / a


def energies(settings: Mapping[str, Any]) -> tuple[Outcome, ...]:
    model, period = pendulum(), pendulum_period()
    per, n = settings["steps_per_period"], settings["periods"]
    step = period / per
    numbers, rows, curves = [], [], []
    for label, method in chosen_methods(settings).items():
        run = made(model, n * period, method, step=step, dense=False)
        # above its lowest point, as a part of what it began with
        total = run.energy["kinetic"] + run.energy["gravity"]
        share = (total + 0.5 * 9.81) / (total[0] + 0.5 * 9.81)
        end = float(np.mean(share[-per:]) / np.mean(share[:per]))
        per_period = (end ** (1.0 / n) - 1.0) if end > 0.0 and run.is_ok else math.nan
        numbers.append({"method": label, "energy_left": end, "per_period": per_period, "status": run.status})
        words = f"{100.0 * end:.6g}" if run.is_ok else f"stopped after {run.t[-1] / period:.0f} periods"
        rows.append((label, words, "" if math.isnan(per_period) else f"{100.0 * per_period:.1e}"))
        # over whole periods, until it leaves the picture
        each = share[: len(share) // per * per].reshape(-1, per).mean(axis=1)
        within = np.cumprod(each < MAX_DRAWN).astype(bool)
        curves.append((label, np.arange(len(each))[within] + 0.5, 100.0 * each[within]))
    text = (
        f"A rod swings from the horizontal through {n} periods, {per} steps each. Nothing "
        "takes energy, so what is lost or won is the method's own."
    )
    columns = ("method", "energy left [%]", "change per period [%]")
    chart = Lines("Energy of a swing", "%", "periods", "-", tuple(curves))
    return (Outcome(Finding("Energy over a long time", text, columns, tuple(rows), (chart,), (1, 2)), numbers),)
