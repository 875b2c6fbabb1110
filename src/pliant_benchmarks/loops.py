"""A line about many closed loops."""

from __future__ import annotations

import numpy as np

from pliant.cases.n_four_bar import CASE
from pliant.engine.prepared import NOTHING, Prepared
from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks.figures import Figure, Say
from pliant_benchmarks.timing import job, measure, statement

LOOPS = (10, 20, 40)
STEP, STEPS, ROUNDS = 1e-3, 100, 9  # [s]
EVALUATIONS = 5.0  # per step: what Newton's method takes, and as much again for its matrices


def loop_steps(say: Say) -> list[Figure]:
    """A step of generalised_alpha with the multipliers of n loops as unknowns, against one evaluation of the closed
    mechanism's accelerations."""
    figures = []
    for n in LOOPS:
        say(f"{n} loops")
        model = CASE.build(CASE.resolve({"loops": n}))
        run = prepare_run(model, STEPS * STEP, integrator="generalised_alpha", closure="implicit", step=STEP).end
        call, q, v = Prepared(model).forward_dynamics, np.array(model.q0), np.array(model.v0)
        out = np.empty(len(v))
        timers = {
            "step": job(run),
            "evaluation": statement("call(q, v, tau, out=out)", call=call, q=q, v=v, tau=NOTHING, out=out),
        }
        best = measure(timers, ROUNDS)
        seconds = best["step"] / STEPS
        figures.append(
            Figure(f"{n} loops, per step", seconds, seconds / best["evaluation"], EVALUATIONS, note="in evaluations")
        )
    return figures
