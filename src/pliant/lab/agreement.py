"""pliant compare: how closely all formulations agree on a model, in accelerations, reactions and motion."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import Prepared, prepare
from pliant.errors import AccuracyWarning, ModelError, SimulationError
from pliant.mechanisms.assembly import closed_start
from pliant.mechanisms.constraints import Loops
from pliant.methods import formulations_of
from pliant.model.model import Model
from pliant.model.tree import kept_velocities
from pliant.result import Result
from pliant.simulation.simulate import simulate

Array = NDArray[np.float64]
USUAL_DURATION = 0.1  # of the compared motion, where none is given [s]
N_STATES = 10
RTOL = 1e-10  # of the compared motion
TIGHT = 1e-10  # what differences are held against; motion adds up those of all its steps
ROUNDING = 10 * np.finfo(float).eps  # times condition(M): what accelerations of ill-conditioned models may differ by
SMALL_SHARE = 0.1  # of the largest accelerations at any state: less is not divided by
MOVED_START = 1e-14  # of every coordinate and velocity: what motion itself makes of rounding
MAX_DOUBLINGS = 6
STILL = 1e-12  # change of coordinates over their size: there is no motion to compare
COLUMNS = ("model", "velocities", "condition(M)", "formulation", "accelerations", "forces", "reactions", "motion")


@dataclass(frozen=True)
class Difference:
    """Of one formulation from the first: largest difference over the largest value."""

    formulation: str
    accelerations: float
    forces: float  # M times the difference of accelerations, over the largest term of M vdot
    reactions: float  # over the largest reaction or term of M vdot
    motion: float  # of q and v along a run, over the largest change of q and of v


@dataclass(frozen=True)
class Agreement:
    """A model, and how far each formulation is from the first one."""

    model: str
    n_velocities: int
    n_modes: int
    condition: float  # of M, the largest met
    reference: str  # the first formulation
    is_at_rest: bool  # during the whole run: there is no motion to compare
    sensitivity: float  # difference of its motion from a start that is moved by MOVED_START
    differences: tuple[Difference, ...]

    @property
    def allowed(self) -> float:
        """Of accelerations and reactions: TIGHT, or the rounding that the condition of M leaves."""
        return max(TIGHT, ROUNDING * self.condition)

    @property
    def failures(self) -> tuple[str, ...]:
        """Formulations that differ by more than is allowed, with what in."""
        motion = max(self.allowed, 100 * self.sensitivity)
        bounds = {"accelerations": self.allowed, "forces": TIGHT, "reactions": self.allowed, "motion": motion}
        return tuple(
            f"{self.model}: {row.formulation} differs from {self.reference} by {getattr(row, key):.1e} in {key}"
            for row in self.differences
            for key, bound in bounds.items()
            if not getattr(row, key) <= bound
        )

    @property
    def worst(self) -> Difference:
        """The largest differences of all formulations."""
        keys = ("accelerations", "forces", "reactions", "motion")
        return Difference("all", *(max(getattr(row, key) for row in self.differences) for key in keys))

    @property
    def summary(self) -> dict[str, Any]:
        return asdict(self)

    def table(self) -> list[tuple[str, ...]]:
        """Rows under COLUMNS."""
        modes = f" ({self.n_modes} of modes)" if self.n_modes else ""
        head = (self.model, f"{self.n_velocities}{modes}", f"{self.condition:.0e}")
        return [
            (
                *(head if k == 0 else ("", "", "")),
                row.formulation,
                *(f"{x:.0e}" for x in (row.accelerations, row.forces, row.reactions)),
                "at rest" if self.is_at_rest else f"{row.motion:.0e}",
            )
            for k, row in enumerate(self.differences)
        ]


def agreement(model: Model, duration: float | None = None) -> Agreement:
    """Compare all formulations that take a model on a run from its start, and at states along it with other velocities.

    duration: of the run [s]; left out: 0.1 s, or that of the model where it is shorter."""
    if duration is None:
        duration = min(USUAL_DURATION, model.duration or USUAL_DURATION)
    if not 0.0 < duration < np.inf:
        raise ModelError(f"duration: {duration!r} found; give a number above 0 [s]")
    names = [row.name for row in formulations_of(model)]
    runs, moved = _runs(model, duration, names)
    times, states = _states(model, runs[0])
    handles = [Prepared(model, name) for name in names]
    found = [_evaluate(handle, times, states) for handle in handles]
    matrices = [handles[0].mass_matrix(q) for q, _ in states]
    differences = tuple(
        Difference(name, *_apart(found[0], other, matrices), motion=_motion_apart(runs[0], run))
        for name, other, run in zip(names[1:], found[1:], runs[1:], strict=True)
    )
    condition = max((float(np.linalg.cond(M)) for M in matrices if M.size), default=1.0)
    n_modes = sum(link.body.n_modes for link in model.links)
    return Agreement(
        model.name,
        len(model.velocities),
        n_modes,
        condition,
        names[0],
        is_at_rest=_is_at_rest(runs[0]),
        sensitivity=_motion_apart(runs[0], moved),
        differences=differences,
    )


def _run(
    model: Model,
    duration: float,
    formulation: str,
    n_steps: int | None = None,
    q0: Array | None = None,
    v0: Array | None = None,
) -> Result:
    """Rows on a grid, by steps of error control or by n_steps equal ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # runs are compared, not judged
        return simulate(
            model,
            duration,
            formulation=formulation,
            integrator="dop853",
            closure="multipliers" if model.loops else None,
            rtol=RTOL,
            step=duration / n_steps if n_steps else None,
            sample=duration / N_STATES,
            q0=q0,
            v0=v0,
        )


def _runs(model: Model, duration: float, names: Sequence[str]) -> tuple[list[Result], Result]:
    """One per formulation, and one of the first from a start that is moved; all by the same steps.

    Those of error control would differ: they depend on errors, which are near to rounding."""
    first = _checked(_run(model, duration, names[0]))
    n_steps = N_STATES * math.ceil(2 * first.stats["steps"] / N_STATES)
    for _ in range(MAX_DOUBLINGS):
        first = _run(model, duration, names[0], n_steps)
        if first.is_ok:
            break
        # equal steps are too long for something, as a hard contact
        n_steps *= 2
    runs = [_checked(first), *(_checked(_run(model, duration, name, n_steps)) for name in names[1:])]
    q0, v0 = ((1.0 + MOVED_START) * x for x in (first.q[0], first.v[0]))
    return runs, _checked(_run(model, duration, names[0], n_steps, q0, v0))


def _checked(result: Result) -> Result:
    if not result.is_ok:
        method = result.settings["formulation"]
        raise SimulationError(f"{result.model.name}: the run with formulation {method} failed {result.reason}")
    return result


def _states(model: Model, run: Result) -> tuple[Array, list[tuple[Array, Array]]]:
    """Places along the motion with velocities that let every term of the equations count."""
    rng = np.random.default_rng(0)
    rows = np.linspace(0, len(run.t) - 1, min(N_STATES, len(run.t))).astype(int)
    states = []
    loops = Loops(prepare(model)) if model.loops else None
    kept = kept_velocities(model, model.keep)
    for q, v in zip(run.q[rows], run.v[rows], strict=True):
        other = v + rng.normal(size=len(v))
        if loops is None:
            states.append((q.copy(), other))
        else:  # prescribed motions are where they are at that time
            other = np.where(loops.is_free, other, v)
            states.append(closed_start(loops, q.copy(), other, loops.is_free & ~kept))
    return run.t[rows], states


def _evaluate(handle: Prepared, times: Array, states: Sequence[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
    """Accelerations and reactions at every state."""
    zero = np.zeros(len(handle.model.velocities))
    found = []
    for t, (q, v) in zip(times, states, strict=True):
        vdot = handle.forward_dynamics(q, v, zero, float(t)).copy()
        found.append((vdot, handle.reactions(q, v, zero, float(t)).copy()))
    return found


def _apart(
    one: Sequence[tuple[Array, Array]], other: Sequence[tuple[Array, Array]], matrices: Sequence[Array]
) -> tuple[float, float, float]:
    """Largest relative differences of accelerations, of the forces they need, and of reactions."""
    gaps, scales = [], []
    for (vdot, wrench), (other_vdot, other_wrench), M in zip(one, other, matrices, strict=True):
        gap, term = other_vdot - vdot, _size(np.abs(M) @ np.abs(vdot))
        gaps.append([_size(gap), _size(M @ gap), _size(other_wrench - wrench)])
        # the joint of a free body carries nothing but rounding
        scales.append([_size(vdot), term, max(_size(wrench), term)])
    # a state may have no accelerations but rounding, as of rods that stand upright
    least = SMALL_SHARE * np.max(scales, axis=0)
    worst = np.max(np.array(gaps) / np.where(least > 0.0, np.maximum(scales, least), 1.0), axis=0)
    return float(worst[0]), float(worst[1]), float(worst[2])


def _is_at_rest(run: Result) -> bool:
    """But for rounding."""
    return _size(run.q - run.q[0]) <= STILL * _size(run.q)


def _motion_apart(one: Result, other: Result) -> float:
    if _is_at_rest(one):
        return _size(other.q - one.q) / (_size(one.q) or 1.0)
    gaps = [
        _size(getattr(other, key) - getattr(one, key)) / (_size(getattr(one, key) - getattr(one, key)[0]) or 1.0)
        for key in ("q", "v")
    ]
    return max(gaps)


def _size(x: Array) -> float:
    return float(np.max(np.abs(x), initial=0.0))
