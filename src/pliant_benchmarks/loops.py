"""A line about many closed loops."""

from __future__ import annotations

from pliant.cases.n_four_bar import CASE
from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks import peers
from pliant_benchmarks.evaluations import pin7
from pliant_benchmarks.figures import Figure, Say, missing
from pliant_benchmarks.timing import job, measure

LOOPS = (10, 20, 40)
STEP, STEPS, ROUNDS = 1e-3, 100, 9  # [s]
GOAL = 1.0  # pin7 per loop: a tenth of what 40 loops took when all of them were solved for as one


def loop_steps(say: Say) -> list[Figure]:
    """A step of generalised_alpha with the multipliers of n loops as unknowns, per loop."""
    figures = []
    for n in LOOPS:
        say(f"{n} loops")
        model = CASE.build(CASE.resolve({"loops": n}))
        run = prepare_run(model, STEPS * STEP, integrator="generalised_alpha", closure="implicit", step=STEP).end
        timers, name = {"step": job(run)}, f"{n} loops, per loop and step"
        try:
            timers["pin7"] = pin7()
        except peers.MissingPeerError as error:
            figures += [Figure(name, measure(timers, ROUNDS)["step"] / STEPS / n), missing("pin7", error)]
            continue
        best = measure(timers, ROUNDS)
        seconds = best["step"] / STEPS / n
        figures.append(Figure(name, seconds, seconds / best["pin7"], GOAL, note="in pin7"))
    return figures
