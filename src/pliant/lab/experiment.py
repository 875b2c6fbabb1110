"""An experiment: small runs by key, what is measured in each, and what the measurements say together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pliant.engine.callbacks import Progress
from pliant.model.model import Model
from pliant.report_types import Finding
from pliant.result import Result
from pliant.simulation.simulate import simulate

ACCURACY = {"rtol": 1e-11, "atol": 1e-13}


@dataclass(frozen=True)
class Run:
    """One run, and what is kept of its result."""

    model: Model
    duration: float
    measure: Callable[[Result], Any]


@dataclass(frozen=True)
class Outcome:
    """What an experiment found: for the page and the terminal, and all its numbers."""

    finding: Finding
    numbers: Any


@dataclass(frozen=True)
class Experiment:
    """plan: the runs by key; evaluate: what their measurements, by the same keys, say."""

    name: str
    plan: Callable[[Mapping[str, Any]], dict[Any, Run]]
    evaluate: Callable[[Mapping[str, Any], dict[Any, Any]], tuple[Outcome, ...]]


@dataclass(frozen=True)
class Performed:
    """Outcomes by experiment; breakdowns: (run, reason) of runs that did not reach their end."""

    outcomes: dict[str, tuple[Outcome, ...]]
    breakdowns: list[tuple[str, str]]


def perform(
    experiments: tuple[Experiment, ...], settings: Mapping[str, Any], progress: Progress | None = None
) -> Performed:
    """Run every run of every experiment. progress(done, all) counts runs.

    Of a run that fails, the partial result is measured."""
    plans = {experiment.name: experiment.plan(settings) for experiment in experiments}
    done, total = 0, sum(len(plan) for plan in plans.values())
    performed = Performed({}, [])
    for experiment in experiments:
        measured = {}
        for key, run in plans[experiment.name].items():
            result = simulate(run.model, run.duration, **ACCURACY)  # type: ignore[arg-type]
            if not result.is_ok:
                words = key if isinstance(key, tuple) else (key,)
                performed.breakdowns.append((", ".join(map(str, (experiment.name, *words))), result.reason))
            measured[key] = run.measure(result)
            done += 1
            if progress is not None:
                progress(done, total)
        performed.outcomes[experiment.name] = experiment.evaluate(settings, measured)
    return performed
