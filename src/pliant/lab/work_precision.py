"""What digits cost: error at the end of a run against evaluations, of every integrator on chosen models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import all_cases
from pliant.errors import ModelError
from pliant.lab.experiment import Outcome
from pliant.lab.integrator_methods import chosen_methods, is_fixed, made
from pliant.methods.integrators import AutoIntegrator, Integrator
from pliant.model.bodies import Body, Sphere
from pliant.model.contacts import Contact, NormalLaw, Plane
from pliant.model.flexible import Beam, Bending, Material, Rectangle
from pliant.model.joints import Joint
from pliant.model.model import Load, Model
from pliant.model.signals import Constant
from pliant.report_types import Finding, Lines

Array = NDArray[np.float64]

TOLERANCES = tuple(10.0**-k for k in range(3, 12))  # of methods with variable steps
FEWEST_STEPS, N_HALVINGS = 40, 8  # of methods with fixed steps
DIGITS = (3, 6, 9)  # of the table
MIN_DIGITS, MAX_DIGITS = 0.5, 11.0  # that are drawn; the reference has no more


def coaxial(count: int, inertia: float, stiffness: Any, damping: Any, torque: float = 1.0) -> Model:
    """Discs on one axis, each sprung and damped against the one before; a torque on the last."""
    stiffness, damping = np.broadcast_to(stiffness, count), np.broadcast_to(damping, count)
    ball = (inertia, 0.0, 0.0), (0.0, inertia, 0.0), (0.0, 0.0, inertia)
    bodies = tuple(Body(f"disc{k + 1}", 1.0, inertia=ball) for k in range(count))
    joints = tuple(
        Joint(
            f"shaft{k + 1}", "revolute", f"disc{k + 1}", f"disc{k}" if k else "world", stiffness=float(stiffness[k]),
            damping=float(damping[k]),
        )
        for k in range(count)
    )  # fmt: skip
    load = Load(f"disc{count}", z=Constant(torque), kind="couple")
    return Model(f"chain of {count} discs", bodies, joints, gravity=(0, 0, 0), loads=(load,))


def chain() -> Model:
    return coaxial(10, 1.0, 20.0, 5.0)


def stiff() -> Model:
    """Every other shaft a thousand times stiffer and strongly damped."""
    return coaxial(6, 1.0, [20.0, 2e4] * 3, [1.0, 2e3] * 3)


def flexible() -> Model:
    """A slender beam that falls from the horizontal, with three bending modes."""
    beam = Beam(
        "link", 1.0, Material(young=2.0e11, density=7850.0), Rectangle(width=0.004, height=0.03),
        bending_y=Bending(modes=3, ends="cf"),
    )  # fmt: skip
    return Model("flexible link", (beam,), (Joint("hinge", "revolute", "link"),), gravity=(0, -9.81, 0))


def contact() -> Model:
    """A ball that bounces on a damped spring."""
    floor = Contact("floor", NormalLaw("flores", 1e6, restitution=0.8), Plane(normal=(0, 1, 0)), points=("ball",))
    return Model(
        "bouncing ball", (Body("ball", 1.0, shape=Sphere(0.1)),),
        (Joint("base", "planar", "ball", q0=(0.0, 0.5, 0.0)),), gravity=(0, -9.81, 0), contacts=(floor,),
    )  # fmt: skip


# name: (model, duration [s], words)
MODELS: dict[str, tuple[Callable[[], Model], float, str]] = {
    "chain": (chain, 10.0, "ten equal discs on sprung and damped shafts"),
    "stiff": (stiff, 4.0, "six discs, every other shaft a thousand times stiffer"),
    "flexible": (flexible, 1.0, "a falling link with three bending modes"),
    "contact": (contact, 1.5, "a ball that bounces"),
}


def find_model(name: str) -> tuple[Model, float, str]:
    """A model of this page, a built-in case, or a model file; its duration and words."""
    if name in MODELS:
        build, duration, words = MODELS[name]
        return build(), duration, words
    case = all_cases().get(name)
    if case is not None:
        model, words = case.build(case.resolve({})), case.title
        length = dict(case.run).get("duration") or model.duration
    elif Path(name).suffix:
        from pliant.io.robot_file import load_file

        model = load_file(Path(name), {}, False)
        length, words = model.duration, model.name
    else:
        known = ", ".join((*MODELS, *all_cases()))
        raise ModelError(f"models: {name!r} is not known; choose some of {known}, or a model file (.toml)")
    if length is None:
        raise ModelError(f"models: {name!r} has no duration of its own; give it one in its file")
    return model, float(length), words


def costs(method: Integrator, model: Model, duration: float, exact: Array) -> list[dict[str, float]]:
    """Error and cost of runs that are ever finer."""
    found = []
    finer: list[dict[str, Any]] = (
        [{"step": duration / (FEWEST_STEPS * 2**k)} for k in range(N_HALVINGS)]
        if is_fixed(method)
        else [{"rtol": rtol, "atol": 1e-2 * rtol} for rtol in TOLERANCES]
    )
    for options in finer:
        run = made(model, duration, method, dense=False, **options)
        if run.is_ok:
            error = float(np.abs(run.q[-1] - exact).max() / max(1e-300, np.abs(exact).max()))
            if math.isfinite(error):
                row = {"error": error, "evaluations": float(run.stats["evaluations"]), "seconds": run.stats["wall_s"]}
                found.append({**options, **row})
    return found


def digits_of(error: float) -> float:
    return min(MAX_DIGITS, -math.log10(max(error, 1e-300)))


def cost_of(digits: float, found: list[dict[str, float]], key: str) -> float:
    """Cost from which on all finer runs have so many digits, interpolated; NaN: they were not reached."""
    pairs = [(digits_of(row["error"]), math.log10(row[key])) for row in found]
    if not pairs or pairs[-1][0] < digits:
        return math.nan
    for (one, first), (two, second) in reversed(list(pairwise(pairs))):
        if one < digits:
            return math.pow(10.0, first + (digits - one) / (two - one) * (second - first))
    return math.pow(10.0, pairs[0][1])


def work_precision(settings: Mapping[str, Any]) -> tuple[Outcome, ...]:
    return tuple(_of_model(name, settings) for name in settings["models"])


def _of_model(name: str, settings: Mapping[str, Any]) -> Outcome:
    model, duration, words = find_model(name)
    exact = made(model, duration, AutoIntegrator(), rtol=1e-12, atol=1e-14).q[-1]
    numbers, rows, curves = [], [], {True: [], False: []}  # type: ignore[var-annotated]
    for label, method in chosen_methods(settings).items():
        found = costs(method, model, duration, exact)
        numbers.append({"method": label, "runs": found})
        needed = [cost_of(digits, found, "evaluations") for digits in DIGITS]
        seconds = cost_of(DIGITS[1], found, "seconds")
        rows.append(
            (
                label,
                *("" if math.isnan(each) else f"{each:.0f}" for each in needed),
                "" if math.isnan(seconds) else f"{1e3 * seconds:.2g}",
                f"{max((digits_of(row['error']) for row in found), default=0.0):.1f}",
            )
        )
        shown = [row for row in found if MIN_DIGITS < digits_of(row["error"]) < MAX_DIGITS]
        if shown:
            digits = np.array([digits_of(row["error"]) for row in shown])
            curves[is_fixed(method)].append((label, digits, np.array([row["evaluations"] for row in shown])))
    best = {digits: min(_reached(rows, k + 1), default=None) for k, digits in enumerate(DIGITS)}
    said = "; ".join(f"{digits} digits: {found[1]} ({found[0]:.0f})" for digits, found in best.items() if found)
    text = (
        f"{words[0].upper()}{words[1:]}, {duration:g} s: error of the coordinates at the end over their size, as "
        "digits, against evaluations of the model. Cells are empty where the finest run did not reach so many digits. "
        f"Fewest evaluations for {said or 'no digits'}."
    )
    columns = (
        "method", *(f"evaluations for {digits} digits" for digits in DIGITS), f"time for {DIGITS[1]} digits [ms]",
        "most digits reached",
    )  # fmt: skip
    charts = [
        Lines(kind, "evaluations", "digits", "-", tuple(curves[fixed]), is_log=True)
        for fixed, kind in ((False, "Variable steps"), (True, "Fixed steps"))
        if curves[fixed]
    ]
    finding = Finding(f"Work and precision: {name}", text, columns, tuple(rows), tuple(charts), tuple(range(1, 6)))
    return Outcome(finding, {"model": name, "methods": numbers})


def _reached(rows: list[tuple[str, ...]], column: int) -> list[tuple[float, str]]:
    return [(float(row[column]), row[0]) for row in rows if row[column]]
