"""How good stated errors are: those of certify against the true ones."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import pliant
from known_problems import Problem
from pliant.trust.shadows import Cause

ROUNDING = 1e-13  # of a figure, or of 1: below, neither answer nor figure is known


class Verdict(NamedTuple):
    problem: str
    figure: str
    true: float
    stated: float
    errors: dict[Cause, float]  # by cause
    digits: int | None

    @property
    def is_bounded(self) -> bool:
        return self.true <= self.stated

    @property
    def excess(self) -> float:
        """How many times too large; what is below rounding counts as rounding."""
        return max(self.stated, ROUNDING) / max(self.true, ROUNDING)


def verdicts(problem: Problem) -> list[Verdict]:
    """Of every figure of a problem whose answer is known."""
    contacts = {name for name in problem.answers if name.startswith("contact ")}
    figures = {name: name for name in problem.answers if name not in contacts}
    figures |= {name: _of_contact(name) for name in contacts}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pliant.AccuracyWarning)
        found = pliant.certify(problem.model, problem.duration, figures=figures, threads=1, **problem.options)
    assert found.is_ok, found.result.reason
    judged = []
    for name, answer in problem.answers.items():
        figure = found.figures[name]
        # the answer itself is known to rounding only
        true = max(0.0, abs(figure.value - answer) - ROUNDING * max(1.0, abs(answer)))
        judged.append(Verdict(problem.name, name, true, figure.error, figure.errors, figure.digits))
    return judged


def _of_contact(name: str):
    _, number, field = name.split()
    return lambda result: result.contacts[int(number) - 1][field]
