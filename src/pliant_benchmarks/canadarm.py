"""Lines about canadarm: one evaluation of its 22 velocities, and its fall and impact against SciPy on the same one."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pliant.cases.case import all_cases
from pliant.engine.prepared import Prepared
from pliant.model.model import Model
from pliant.queries.frames import frame_placement, frame_velocity
from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks import peers
from pliant_benchmarks.evaluations import LOOP, pin7, right_hand_side
from pliant_benchmarks.figures import Figure, Say, missing
from pliant_benchmarks.models import Array, small_state
from pliant_benchmarks.timing import job, measure

TOLERANCE: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10}
DURATION = 0.7  # [s]
PATIENCE = 2  # runs of SciPy: the least counts


def _model(**settings: Any) -> Model:
    case = all_cases()["canadarm"]
    return case.build(case.resolve(settings))


def canadarm_rhs(say: Say) -> list[Figure]:
    evaluate, _ = right_hand_side(_model(), *small_state(_model()))
    timers = {"pliant, compiled loop": job(partial(evaluate, LOOP))}
    try:
        timers["pin7"] = pin7()
    except peers.MissingPeerError as error:
        return [
            Figure("pliant, compiled loop", measure(timers)["pliant, compiled loop"] / LOOP),
            missing("pin7", error),
        ]
    best = measure(timers)
    seconds = best["pliant, compiled loop"] / LOOP
    return [
        Figure("pliant, compiled loop", seconds, seconds / best["pin7"], 1.8),
        Figure("pin7", best["pin7"], note="one call of pinocchio.aba from Python"),
    ]


def canadarm_run(say: Say) -> list[Figure]:
    """Elastic contact without friction: its force follows from the state alone, so that SciPy can have it, too."""
    model = _model(normal_law="hertz", friction_law="none")
    runs = {name: prepare_run(model, DURATION, integrator=name, **TOLERANCE) for name in ("dop853", "adams")}
    say("pliant")
    exact = np.concatenate(prepare_run(model, DURATION, integrator="dop853", rtol=1e-12, atol=1e-14).end())
    errors = {name: float(np.max(np.abs(np.concatenate(run.end()) - exact))) for name, run in runs.items()}
    best = measure({name: job(run.end) for name, run in runs.items()}, rounds=5)
    figures = [Figure(f"pliant {name}", best[name], error=errors[name]) for name in runs]
    try:
        integrate = _scipy_run(model)
    except ImportError as problem:
        return [*figures, missing("SciPy DOP853", problem)]
    say("SciPy")
    times = []
    for _ in range(PATIENCE):
        begun = time.process_time()
        found = integrate()
        times.append(time.process_time() - begun)
    error, note = float(np.max(np.abs(found - exact))), "ratio to the faster of pliant's"
    ratio = min(times) / min(best.values())
    return [*figures, Figure("SciPy DOP853", min(times), ratio, 20.0, is_least=True, error=error, note=note)]


def _scipy_run(model: Model) -> Callable[[], Array]:
    """solve_ivp with the compiled right-hand side of pliant, begun anew where the point reaches or leaves the plane."""
    from scipy.integrate import solve_ivp

    handle, n = Prepared(model), len(model.q0)
    contact: Any = model.contacts[0]
    point, normal, offset = contact.points[0], np.array(contact.plane.normal), contact.plane.offset

    def rate(t: float, y: Array) -> Array:
        return np.concatenate([y[n:], handle.forward_dynamics(y[:n], y[n:])])

    def gap(t: float, y: Array) -> float:
        return float(normal @ frame_placement(model, y[:n], point)[1] - offset)

    gap.terminal = True  # type: ignore[attr-defined]

    def integrate() -> Array:
        t, y = 0.0, np.concatenate([model.q0, model.v0])
        while t < DURATION:
            speed = float(normal @ frame_velocity(model, y[:n], y[n:], point)[:3])
            gap.direction = -1.0 if gap(t, y) > 1e-9 or speed > 0.0 else 1.0  # type: ignore[attr-defined]
            found = solve_ivp(rate, (t, DURATION), y, method="DOP853", events=gap, **TOLERANCE)
            t, y = float(found.t[-1]), found.y[:, -1]
        return y

    return integrate
