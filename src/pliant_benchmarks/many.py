"""Lines about many loops and many contacts at once."""

from __future__ import annotations

import numpy as np

from pliant.cases.n_four_bar import CASE
from pliant.engine.prepared import NOTHING, Prepared
from pliant.model.bodies import Body, Frame
from pliant.model.contacts import Contact, Friction, NormalLaw
from pliant.model.joints import Joint
from pliant.model.model import Model
from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks.figures import Figure, Say
from pliant_benchmarks.timing import job, measure, statement

LOOPS = (10, 20, 40)
STEP, STEPS, ROUNDS = 1e-3, 100, 9  # [s]
EVALUATIONS = 5.0  # per step: what Newton's method takes, and as much again for its matrices
FEET = 10  # in a row of ten
DURATION = 0.5  # [s] of the plate


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
            "evaluation": statement("call(q, v, tau, out)", call=call, q=q, v=v, tau=NOTHING, out=out),
        }
        best = measure(timers, ROUNDS)
        seconds = best["step"] / STEPS
        figures.append(
            Figure(f"{n} loops, per step", seconds, seconds / best["evaluation"], EVALUATIONS, note="in evaluations")
        )
    return figures


def plate(feet: int, friction: Friction | None) -> Model:
    """A level plate on feet in rows, dropped, that slides and comes to rest."""
    side = np.linspace(-0.5, 0.5, feet)
    points = tuple(Frame("plate", (float(x), float(y), -0.05)) for x in side for y in side)
    law = NormalLaw("hu-guo", 1e5, restitution=0.4)
    return Model(
        "plate on feet",
        (Body("plate", 10.0, inertia=(1.0, 1.0, 1.5)),),
        (Joint("free", "floating", "plate", q0=(0, 0, 0.07, 0, 0, 0, 1), v0=(0.5, 0, 0, 0, 0, 0)),),
        gravity=(0.0, 0.0, -9.81),
        contacts=(Contact("feet", law, points=points, friction=friction),),
    )


def contacts100(say: Say) -> list[Figure]:
    """CPU time over the time simulated; and, to see what sticking costs, per evaluation of the equations."""
    figures = []
    for words, friction in {"without friction": None, "sticking": Friction("stiction", 0.3, mu_s=0.5)}.items():
        say(words)
        run = prepare_run(plate(FEET, friction), DURATION)
        seconds = measure({"": job(run.end)}, 1)[""]
        figures.append(Figure(f"{FEET * FEET} feet, {words}", seconds, seconds / DURATION, 10.0, note="of real time"))
    return figures
