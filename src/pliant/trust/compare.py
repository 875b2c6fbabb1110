"""compare(model) -> Comparison: one model under every formulation, closure and integrator that takes it, held against a
run at the tightest tolerances: motion, forces, reactions, energy, drift, cost."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.arguments import as_model, as_name, as_names
from pliant.engine.callbacks import heard
from pliant.errors import ModelError, PliantError, SimulationError
from pliant.methods import CLOSURES, INTEGRATORS, find_method, formulations_of
from pliant.methods.integrators import Integrator
from pliant.model.columns import output_columns
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model, Output
from pliant.model.tree import model_size
from pliant.result import Result
from pliant.simulation.options import check_options
from pliant.simulation.simulate import run_model
from pliant.trust.predictability import distance, ranges

Array = NDArray[np.float64]
Progress = Callable[[int, int], None]
BEST = 1e-12  # rtol of the reference; atol a hundredth
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)  # rtol of integrators with error control
STEPS_OF_REFERENCE = (1, 4, 16)  # fixed steps: so many as the reference has, times these
USUAL_RTOL = 1e-8  # of runs that compare formulations and closures
MAX_EFFORT = 100  # evaluations, in those of the reference, after which a run is given up
N_TIMES = 201  # equal times at which runs are compared
FORCE_ARMS = {"N": 0, "N m": 1}  # by unit: powers of a length
ROUNDED = 1e-12  # forces below this part of the usual ones (energy over size) are rounding
FAMILIES = ("formulation", "closure", "integrator")
REACTION = "reaction_of_"  # before the name of a joint: outputs that are added


@dataclass(frozen=True)
class Row:
    """One run, and how far it is from the reference."""

    family: str  # what is compared: "formulation", "integrator" or "closure"
    label: str  # "radau, rtol 1e-08"
    motion: float  # largest difference of a coordinate, over its range
    forces: float  # of an output that is a force, over the largest of its kind; nan: there is none
    reactions: float  # of the joints, over the largest
    energy: float  # energy_residual
    drift: float  # constraint_drift
    evaluations: int
    seconds: float
    over_time: Array = field(repr=False)  # (times) the difference of motion
    reason: str = ""  # why it has no numbers


@dataclass(frozen=True, repr=False)
class Comparison:
    """Of all runs with the reference."""

    model: Model
    reference: Result
    rows: tuple[Row, ...]
    times: Array

    @property
    def failed(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.reason)

    def __repr__(self) -> str:
        """How many, how far apart: all numbers are in rows."""
        words = [f"<Comparison of {self.model.name!r}: {len(self.rows)} runs"]
        for name in dict.fromkeys(row.family for row in self.rows):
            worst = max((row.motion for row in self.family(name) if not row.reason), default=math.nan)
            words.append(f"{name}s at most {worst:.1e} apart")
        return ", ".join([*words, *([f"{len(self.failed)} failed"] if self.failed else [])]) + ">"

    def family(self, name: str) -> tuple[Row, ...]:
        """Rows of "formulation", "closure" or "integrator"."""
        if as_name(name, "family") not in FAMILIES:
            raise ModelError(f"family: {quoted(name)} found; give one of {listed(FAMILIES)}")
        return tuple(row for row in self.rows if row.family == name)


def compare(
    model: Model,
    duration: float | None = None,
    *,
    formulations: str | Sequence[str] | None = None,
    integrators: str | Sequence[str] | None = None,
    closures: str | Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run a model by its methods and hold every run against one at rtol 1e-12. formulations, integrators, closures:
    names of those to be compared; left out: all that take the model. progress(done, runs)."""
    watched, reported = _with_reactions(as_model(model)), heard(progress)
    best: dict[str, Any] = {"duration": duration, "rtol": BEST, "atol": 1e-2 * BEST}
    check_options(model, duration=duration)
    check_options(watched, **best)
    plan = [
        *_formulation_runs(_chosen("formulations", formulations, [row.name for row in formulations_of(model)])),
        *_closure_runs(_chosen("closures", closures, [row.name for row in CLOSURES] if model.loops else [])),
    ]
    names = _chosen("integrators", integrators, [row.name for row in INTEGRATORS])
    reference = run_model(watched, None, None, None, None, best)
    if not reference.is_ok:
        raise SimulationError(
            f"{model.name}: the run at rtol {BEST:.0e} that others are held against failed {reference.reason}"
        )
    plan += _integrator_runs(reference, names)
    times = np.linspace(reference.t[0], reference.t[-1], N_TIMES)
    judge = _Judge(reference, times)
    rows = []
    for done, (family, label, options) in enumerate(plan):
        if reported is not None:
            reported(done, len(plan))
        rows.append(judge.row(family, label, {"duration": duration, **options}))
    return Comparison(model, reference, tuple(rows), times)


def _chosen(what: str, given: str | Sequence[str] | None, able: list[str]) -> list[str]:
    """Names of methods: those asked for, all of which must be able; or all that are."""
    if given is None:
        return able
    names = [name.replace("-", "_") for name in as_names(given, what)]
    for name in names:
        if name not in able:
            hint = closest(name, able) or ";"
            raise ModelError(
                f"{what}: {quoted(name)} does not take this model{hint} those that do: {listed(able) or 'none'}"
            )
    return names


def _with_reactions(model: Model) -> Model:
    """The model with the reactions of all joints among its outputs. How it wants to be run is not its choice here, but
    for how long."""
    added = [Output(f"{REACTION}{link.joint.name}", link.joint.name, "reaction") for link in model.links]
    taken = {output.name for output in model.outputs}
    kept = {name: model.run[name] for name in ("duration", "memory") if name in model.run}
    outputs = (*model.outputs, *(one for one in added if one.name not in taken))
    return dataclasses.replace(model, outputs=outputs, run=kept)


def _formulation_runs(names: list[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name in names:
        yield "formulation", name, {"formulation": name, "rtol": USUAL_RTOL}


def _closure_runs(names: list[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each with the first integrator that it goes with."""
    for name in names:
        closure = find_method("closure", name)
        able = next(row() for row in INTEGRATORS if closure.goes_with(row()))
        options: dict[str, Any] = {"closure": closure, "integrator": able.name, "rtol": USUAL_RTOL}
        yield "closure", f"{name}, {able.name}", options | ({} if _is_adaptive(able) else {"step": None})


def _is_adaptive(integrator: Integrator) -> bool:
    return "adaptive" in integrator.supports


def _integrator_runs(reference: Result, names: list[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every integrator at several tolerances, or with steps of several lengths."""
    span = float(reference.t[-1] - reference.t[0])
    closure = find_method("closure", "auto") if reference.model.loops else None
    for name in names:
        integrator: Integrator = find_method("integrator", name)
        if closure is not None and not closure.goes_with(integrator):
            continue
        if _is_adaptive(integrator):
            most = MAX_EFFORT * reference.stats["evaluations"] / integrator.evaluations_per_step
            for rtol in TOLERANCES:
                chosen = {"integrator": name, "rtol": rtol, "atol": 1e-2 * rtol, "max_steps": math.ceil(most)}
                yield "integrator", f"{name}, rtol {rtol:.0e}", chosen
        else:
            for factor in STEPS_OF_REFERENCE:
                step = span / (factor * reference.stats["steps"])
                yield "integrator", f"{name}, step {step:.2g} s", {"integrator": name, "step": step}


class _Judge:
    """Holds runs against the reference."""

    def __init__(self, reference: Result, times: Array) -> None:
        self.reference, self.times = reference, times
        rows = reference.resampled(times)
        self.q, self.outputs = rows.q, rows.outputs
        self.size = ranges(reference, self.q)

    def row(self, family: str, label: str, options: dict[str, Any]) -> Row:
        if options.get("step", "") is None:  # a closure for integrators with fixed steps
            span = float(self.times[-1] - self.times[0])
            options = options | {"step": span / (STEPS_OF_REFERENCE[-1] * self.reference.stats["steps"])}
        try:
            run = run_model(self.reference.model, None, None, None, None, options)
        except PliantError as error:
            return self._without(family, label, str(error))
        if not run.is_ok or run.t[-1] < self.times[-1] - 1e-9:
            return self._without(family, label, run.reason or "it ended before the reference")
        rows = run.resampled(np.minimum(self.times, run.t[-1]))
        over_time = distance(self.q, rows.q, self.size)
        return Row(
            family,
            label,
            float(np.max(over_time)),
            self._apart(rows.outputs, is_reaction=False),
            self._apart(rows.outputs, is_reaction=True),
            run.audit["energy_residual"],
            run.audit["constraint_drift"],
            int(run.stats["evaluations"]),
            float(run.stats["wall_s"]),
            over_time,
        )

    def _without(self, family: str, label: str, reason: str) -> Row:
        nothing = np.full(len(self.times), np.nan)
        return Row(family, label, *(math.nan,) * 5, 0, math.nan, nothing, reason)

    def _apart(self, outputs: dict[str, Array], is_reaction: bool) -> float:
        """Largest difference of forces and moments at equal times, over the largest; a moment counts as a force at the
        model's size."""
        gap, scale = 0.0, 0.0
        for output in self.reference.model.outputs:
            if output.name.startswith(REACTION) is not is_reaction:
                continue
            units = [column.unit for column in output_columns(self.reference.model, output)]
            arms = np.array([FORCE_ARMS.get(unit, np.nan) for unit in units])
            chosen = ~np.isnan(arms)
            arms = np.where(arms[chosen] > 0.0, model_size(self.reference.model), 1.0)
            own = self.outputs[output.name][:, chosen] / arms
            gap = max(gap, float(np.max(np.abs(outputs[output.name][:, chosen] / arms - own), initial=0.0)))
            scale = max(scale, float(np.max(np.abs(own), initial=0.0)))
        usual = float(self.reference.audit["energy_scale"]) / model_size(self.reference.model)  # of forces [N]
        return gap / (scale if scale > ROUNDED * usual else usual) if scale > 0.0 else math.nan
