"""The line about integrator="auto": its time at equal error over that of the best single choice, model by model.

Every choice is swept over tolerances. What it takes for a stated error is interpolated, in logarithms, along its sweep,
whose errors are smoothed first: that a single run happens to be exact, or not, decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pliant.cases import n_four_bar, parallel_3rrr
from pliant.cases.case import all_cases
from pliant.errors import PliantError
from pliant.model.model import Model
from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks import blades, cables, canadarm, models, runs, springs, stiff
from pliant_benchmarks.figures import Figure, Say
from pliant_benchmarks.models import Array, Cables
from pliant_benchmarks.timing import job, measure

AUTO, SINGLE = "auto", ("dop853", "ark4", "ark5", "radau")
TOLERANCES = tuple(10.0 ** (-k / 2) for k in range(6, 17))  # of rtol, 1e-3 to the usual one
ATOL = 0.01  # over rtol
GOAL = 1.3
LEAST_ERROR = -10  # power of ten, to which references are trusted
ROUNDS, SLOW_ROUNDS, SLOW = 12, 3, 0.1  # rounds of timing; where a run of auto takes so many seconds
PATIENCE = 10.0  # times what auto takes, beyond which a choice is swept no further


@dataclass(frozen=True)
class Problem:
    """A model to be run for so long, and how exactly its end is known."""

    build: Callable[[], Model]
    duration: float  # [s]
    options: dict[str, Any] = field(default_factory=dict)  # of prepare_run
    reference: tuple[str, float] = ("dop853", 1e-13)  # integrator and rtol

    def run(self, model: Model, integrator: str, rtol: float) -> Callable[[], Array]:
        """(q, v) at the end of a run, as one array."""
        end = prepare_run(model, self.duration, integrator=integrator, rtol=rtol, atol=ATOL * rtol, **self.options).end
        return lambda: np.concatenate(end())


def _case(name: str, **settings: Any) -> Callable[[], Model]:
    return lambda: all_cases()[name].build(all_cases()[name].resolve(settings))


ELASTIC_IMPACT = {"normal_law": "hertz", "friction_law": "none"}
SPRINGS = {"closure": "springs", "closure_stiffness": springs.STIFFNESS}
PROBLEMS = {
    "chain3": Problem(lambda: models.pliant_model(models.chain(3)), 1.0),
    "chain10": Problem(lambda: models.pliant_model(models.chain(10)), 1.0),
    "stiff12": Problem(lambda: stiff.stiff_model(stiff.stiff12()), stiff.DURATION),
    "bounce3": Problem(lambda: models.bounce(models.chain(3)), runs.FALL),
    # later impacts repeat errors a hundred times larger
    "falling-chain": Problem(models.falling_chain, runs.COMPARED),
    "flex3": Problem(lambda: models.cables_model(Cables(), runs.BENDING), cables.DURATION),
    "blades10": Problem(lambda: models.blades(10), blades.DURATION, reference=("radau", 1e-12)),
    "blades40": Problem(lambda: models.blades(40), blades.DURATION, reference=("ark5", 1e-12)),
    "canadarm": Problem(_case("canadarm", **ELASTIC_IMPACT), canadarm.DURATION),
    "springs": Problem(
        lambda: parallel_3rrr.CASE.build(parallel_3rrr.CASE.resolve({})),
        springs.DURATION,
        SPRINGS,
        # at finer tolerances rounding of the springs' forces makes steps short
        reference=("dop853", 1e-11),
    ),
    "loops": Problem(lambda: n_four_bar.CASE.build(n_four_bar.CASE.resolve({"loops": 10})), 1.0),
}


class Curve(NamedTuple):
    """What a choice of integrator errs and costs, from loose to tight tolerances."""

    errors: Array
    seconds: Array

    def at(self, error: float) -> float:
        """Seconds for this error, infinite if it is not reached; at most what the loosest tolerance takes for less."""
        smooth = np.log(smoothed(self.errors))
        if np.log(error) < smooth[-1]:
            return np.inf
        return float(np.exp(np.interp(-np.log(error), -smooth, np.log(self.seconds))))


def smoothed(errors: Array) -> Array:
    """Geometric means of neighbours, then as if they never grew: halfway between what is least so far and what is the
    largest yet to come."""
    padded = np.log(np.concatenate([errors[:1], errors, errors[-1:]]))
    mean = 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]
    least, largest = np.minimum.accumulate(mean), np.maximum.accumulate(mean[::-1])[::-1]
    return np.asarray(np.exp(0.5 * (least + largest)))


def sweep(problem: Problem, say: Say) -> dict[str, Curve]:
    """Of auto and of every single choice that is not hopeless."""
    model = problem.build()
    say("reference")
    exact = problem.run(model, *problem.reference)()
    errors: dict[str, list[float]] = {}
    jobs, limits = {}, dict.fromkeys(TOLERANCES, np.inf)
    for name in (AUTO, *SINGLE):
        say(name)
        errors[name] = []
        for rtol in TOLERANCES:
            try:
                run = problem.run(model, name, rtol)
                found = run()
            except PliantError:  # refused, or not to be integrated so loosely
                break
            seconds = measure({"": job(run)}, 1)[""]
            if seconds > limits[rtol]:
                break
            if name == AUTO:
                limits[rtol] = PATIENCE * seconds
            errors[name].append(max(float(np.max(np.abs(found - exact))), np.finfo(float).tiny))
            jobs[f"{name} {rtol}"] = job(run)
    say("timing")
    is_slow = limits[TOLERANCES[-1]] > PATIENCE * SLOW
    times = measure(jobs, SLOW_ROUNDS if is_slow else ROUNDS)
    return {
        name: Curve(np.array(some), np.array([times[f"{name} {rtol}"] for rtol in TOLERANCES[: len(some)]]))
        for name, some in errors.items()
        if some
    }


class Compared(NamedTuple):
    """auto and the best single choice at equal error."""

    error: float
    seconds: float  # of auto
    best: str
    ratio: float


def at_equal_error(curves: dict[str, Curve]) -> list[Compared]:
    """At every whole power of ten of the error that auto reaches in its sweep."""
    auto = curves[AUTO]
    reached = np.log10(smoothed(auto.errors))
    found = []
    lowest = max(int(np.ceil(reached[-1])), LEAST_ERROR)
    for power in range(int(np.floor(reached[0])), lowest - 1, -1):
        error = 10.0**power
        costs = {name: curve.at(error) for name, curve in curves.items() if name != AUTO}
        best = min(costs, key=costs.__getitem__)
        if not np.isfinite(costs[best]):
            break
        found.append(Compared(error, auto.at(error), best, auto.at(error) / costs[best]))
    return found


def figure(name: str, compared: Sequence[Compared]) -> Figure:
    """The worst of all errors, and the mean."""
    worst = max(compared, key=lambda each: each.ratio)
    mean = np.exp(np.mean([np.log(each.ratio) for each in compared]))
    low, high = compared[-1].error, compared[0].error
    note = f"worst of errors {high:.0e} to {low:.0e}, against {worst.best}; mean {mean:.2f}"
    return Figure(name, worst.seconds, worst.ratio, GOAL, error=worst.error, note=note)


def automatic(say: Say) -> list[Figure]:
    figures = []
    for name, problem in PROBLEMS.items():

        def say_more(what: str, name: str = name) -> None:
            say(f"{name}, {what}")

        figures.append(figure(name, at_equal_error(sweep(problem, say_more))))
    return figures
