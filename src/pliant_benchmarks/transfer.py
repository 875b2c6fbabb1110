"""Lines about discrete-time transfer matrices: cost per element and step, and whole runs at equal error against other
ways to move the same segments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pliant.model.bodies import Body
from pliant.model.joints import Joint
from pliant.model.model import Load, Model
from pliant.model.segmented_beams import segmented_beam
from pliant.model.signals import Constant, Cycloid
from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks import peers
from pliant_benchmarks.evaluations import pin7
from pliant_benchmarks.figures import Figure, Say, missing
from pliant_benchmarks.models import Array
from pliant_benchmarks.timing import job, measure

LENGTHS = (10, 100, 1000, 10_000)
WORK = 200_000  # elements times steps of a run that is timed
STEP = 1e-3  # [s]
LINEAR_GOAL, NONLINEAR_GOAL = 0.012, 0.045  # pin7 per element and step
TIP_ERROR = 1e-4  # [rad]
SLEW = 1.0  # [s]
ROUNDS = 12
OPTIONS: dict[str, Any] = {"formulation": "transfer_matrix", "integrator": "newmark"}


def wheels(n: int) -> Model:
    """On one line, springs and dampers between them, a torque on the last."""
    bodies = tuple(
        Body(f"wheel_{i}", 1.0, inertia=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))) for i in range(n)
    )
    parents = ["world", *(body.name for body in bodies[:-1])]
    joints = tuple(
        Joint(f"angle_{i}", "revolute", body.name, parent, stiffness=20.0, damping=5.0)
        for i, (body, parent) in enumerate(zip(bodies, parents, strict=True))
    )
    return Model("wheels", bodies, joints, loads=(Load(bodies[-1].name, z=Constant(1.0), kind="couple"),))


def falling_beam(n: int) -> Model:
    """A beam of segments that bends under its weight."""
    return segmented_beam(1.0, n, 1.0, 1.0, "start", gravity=(0.0, -9.81, 0.0))


def _cost(make: Callable[[int], Model], goal: float, say: Say) -> list[Figure]:
    jobs, counts = {}, {}
    for n in LENGTHS:
        say(f"{make.__name__}, {n} elements")
        steps = max(100, WORK // n)
        run = prepare_run(make(n), steps * STEP, step=STEP, **OPTIONS)
        jobs[f"{make.__name__}, n = {n}"], counts[f"{make.__name__}, n = {n}"] = job(run.end), steps * n
    lost, yardstick = [], {}
    try:
        yardstick = {"pin7": pin7()}
    except peers.MissingPeerError as error:
        lost = [missing("pinocchio.aba", error)]
    best = measure({**jobs, **yardstick}, ROUNDS)
    each = {name: best[name] / counts[name] for name in jobs}
    unit = best.get("pin7")
    figures = [
        Figure(name, seconds, seconds / unit if unit else None, goal, note="per element and step")
        for name, seconds in each.items()
    ]
    spread = Figure("largest over least", ratio=max(each.values()) / min(each.values()), goal=1.3)
    return [*figures, spread, *([Figure("pin7", unit)] if unit else lost)]


def transfer_cost(say: Say) -> list[Figure]:
    return [*_cost(wheels, LINEAR_GOAL, say), *_cost(falling_beam, NONLINEAR_GOAL, say)]


# --- equal error --------------------------------------------------------------------------------------------------

WAYS: dict[str, dict[str, Any]] = {
    "transfer_matrix, newmark": OPTIONS,
    "articulated, generalised_alpha": {"formulation": "articulated", "integrator": "generalised_alpha"},
    "articulated, dop853": {"formulation": "articulated", "integrator": "dop853"},
    "articulated, radau": {"formulation": "articulated", "integrator": "radau"},
}
STEPS = tuple(0.02 / 2**k for k in range(12))  # [s]
TOLERANCES = tuple(10.0**-k for k in range(2, 10))


def slewed(n: int) -> Model:
    """A steel-like arm turned by its hub."""
    return segmented_beam(1.0, n, 20.0, 0.6, eta=1e-4, hub={"motion": Cycloid(0.0, 0.5, after=1.0)})


def _first_within(model: Model, way: dict[str, Any], exact: Array) -> tuple[Callable[[], Any], float, str] | None:
    """The loosest setting whose angles at the end are within the error."""
    is_fixed = way["integrator"] in ("newmark", "generalised_alpha")
    for value in STEPS if is_fixed else TOLERANCES:
        setting: dict[str, Any] = {"step": value} if is_fixed else {"rtol": value, "atol": value}
        run = prepare_run(model, SLEW, **way, **setting)
        error = float(np.max(np.abs(np.cumsum(run.end()[0]) - exact)))
        if error <= TIP_ERROR:
            return run.end, error, f"step {value:.3g} s" if is_fixed else f"rtol {value:g}"
    return None


def transfer_runs(say: Say) -> list[Figure]:
    figures = []
    for n in (10, 40):
        model = slewed(n)
        say(f"{n} segments: reference")
        exact = np.cumsum(prepare_run(model, SLEW, integrator="radau", rtol=1e-9, atol=1e-11).end()[0])
        found = {}
        for name, way in WAYS.items():
            say(f"{n} segments: {name}")
            found[name] = _first_within(model, way, exact)
        timed = {name: job(partial(row[0])) for name, row in found.items() if row}
        best = measure(timed, ROUNDS // 4)
        first = next(iter(WAYS))
        for name, row in found.items():
            if row is None:
                figures.append(Figure(f"n = {n}: {name}", note=f"no setting meets the error {TIP_ERROR:g}"))
                continue
            ratio = best[name] / best[first] if name != first and first in best else None
            figures.append(Figure(f"n = {n}: {name}", best[name], ratio, error=row[1], note=row[2]))
    return figures
