"""Coordinates and velocities that close the loops, from a rough guess, with chosen joints kept."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.diagnostics import MAX_SPEED_GAIN, fast_start_words
from pliant.engine.arguments import as_names, as_numbers, as_state
from pliant.engine.prepared import Prepared, prepare
from pliant.errors import AccuracyWarning, ModelError
from pliant.mechanisms.constraints import MAX_GAP, MIN_GAP, Loops
from pliant.methods.integrators import Integrator
from pliant.model.messages import listed, quoted
from pliant.model.model import Model
from pliant.model.quantities import parse_angle
from pliant.model.tree import kept_velocities

Array = NDArray[np.float64]
MIN_SINGULAR_VALUE = 0.2  # of that at the start: a run that ends with less has met a singular pose


@dataclass(frozen=True)
class Mobility:
    """How a mechanism can move at a pose."""

    velocities: int  # that are free in the open tree
    conditions: int  # of all loops
    rank: int  # independent ones

    @property
    def freedom(self) -> int:
        return self.velocities - self.rank


def assemble(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    keep: str | Collection[str] | Mapping[str, ArrayLike] | None = None,
) -> tuple[Array, Array]:
    """(q, v) on the loops, as near as may be to those given (default: the model's start).

    keep: joints that stay as they are, or {joint: value} that take these values first (default: the model's own keep);
    joints with a prescribed motion stay on it. Forward kinematics of a parallel robot: keep the motors; inverse
    kinematics: keep the platform."""
    handle = prepare(model)
    q, v = as_state(model, model.q0 if q is None else q, model.v0 if v is None else v)
    keep = model.keep if keep is None else keep if isinstance(keep, Mapping) else as_names(keep, "keep")
    chosen = kept_velocities(model, keep)
    if isinstance(keep, Mapping):
        for name, value in keep.items():
            part = _columns(model, name)
            q[part] = _values(model, f"keep: {name!r}", part, value)
        q = as_state(model, q, v)[0]
    if not model.loops:
        return q, v
    loops = Loops(handle)
    q, v = on_signals(handle, q, v)
    closed = closed_start(loops, q, v, loops.is_free & ~chosen)
    warn_of_fast_start(speed_gain(loops, v, closed[1]))
    return closed


def _values(model: Model, what: str, part: slice, given: ArrayLike) -> Array:
    """Numbers for some coordinates; angles also as text: "30 deg"."""
    names = model.coordinates[part]
    try:
        numbers = np.atleast_1d(as_numbers(parse_angle(given) if isinstance(given, str) else given, what))
    except ValueError:
        raise ModelError(f"{what}: {quoted(given)} is no number; give {len(names)} for {listed(names)}") from None
    if numbers.shape != (len(names),) or not np.all(np.isfinite(numbers)):
        raise ModelError(f"{what}: {quoted(given)} found; give {len(names)} finite numbers: {listed(names)}")
    return numbers


def _columns(model: Model, name: str) -> slice:
    for link in model.links:
        if link.joint.name == name:
            return link.q_slice
    k = model.coordinates.index(name)
    return slice(k, k + 1)


def on_signals(handle: Prepared, q: Array, v: Array) -> tuple[Array, Array]:
    """Prescribed coordinates where their signals are at the start."""
    dofs, work = handle.system.dofs, handle.work
    if np.any(dofs.motion >= 0):
        handle.inverse_dynamics(q, v, np.zeros(len(v)))  # evaluates the signals
        for j in np.flatnonzero(dofs.motion >= 0):
            q[dofs[j].q], v[j] = work.signals[dofs[j].motion].s, work.signals[dofs[j].motion].sdot
    return q, v


def closed_start(loops: Loops, q: Array, v: Array, free: NDArray[np.bool_]) -> tuple[Array, Array]:
    """q and v on the loops; refused with the loop that cannot be closed."""
    values, rates = loops.errors(q, v)
    if np.max(np.abs(values) / loops.scales, initial=0.0) > 4 * MIN_GAP:
        q = loops.close(q, free)
    left = loops.open_loops(q)
    if left:
        model = loops.model
        gaps = "; ".join(
            f"{name!r} stays {size:.3g} {'rad' if is_angle else 'm'} open" for name, size, is_angle in left
        )
        held = [name for name, is_free in zip(model.velocities, free, strict=True) if not is_free]
        kept = f" while {listed(held)} {'stay as they are' if len(held) > 1 else 'stays as it is'}" if held else ""
        raise ModelError(
            f"model {model.name!r}: the loops cannot be closed from this start{kept}: loop {gaps}; "
            "start nearer to a pose that closes, or check lengths and frames"
        )
    flipped = loops.flipped_loops(q)
    if flipped:
        raise ModelError(
            f"model {loops.model.name!r}: from this start loop {listed(flipped)} closes with its second frame rotated "
            "by 180 degrees from the first; start nearer to the attitude that is meant"
        )
    if np.max(np.abs(loops.errors(q, v)[1]) / loops.scales, initial=0.0) > 4 * MIN_GAP:
        v = loops.fitted(q, v, free)
        rates = loops.errors(q, v)[1] / loops.scales
        if np.max(np.abs(rates)) > MAX_GAP * max(1.0, np.max(np.abs(v))):
            name = loops.model.loops[int(loops.handle.system.constraints[int(np.argmax(np.abs(rates)))].loop)].name
            raise ModelError(
                f"model {loops.model.name!r}: the velocities at the start tear loop {name!r} apart; "
                "give others, or keep fewer joints"
            )
    return q, v


def speed_gain(loops: Loops, given: Array, closed: Array) -> float:
    """Return the largest speed of a start on its loops over the largest one that was given; 1 rad/s is as much as one
    size of the model a second."""
    largest = [float(np.max(np.abs(v) / loops.lengths, initial=0.0)) for v in (given, closed)]
    return largest[1] / largest[0] if largest[0] > 0.0 else 1.0


def warn_of_fast_start(gain: float) -> None:
    """Emit an AccuracyWarning if closing the rates has changed them out of proportion."""
    if gain > MAX_SPEED_GAIN:
        warnings.warn(fast_start_words(gain), AccuracyWarning, stacklevel=3)


def mobility(model: Model, q: ArrayLike | None = None) -> Mobility:
    """How many velocities, constraints and independent constraints a mechanism has at a pose (default: its start)."""
    loops = Loops(prepare(model))
    pose = assemble(model)[0] if q is None else as_state(model, q, np.zeros(len(model.velocities)))[0]
    return Mobility(int(loops.is_free.sum()), len(loops.scales), loops.rank(pose))


def check_mobility(loops: Loops, q: Array) -> None:
    """Refuse what cannot move, and starts in singular poses."""
    model, rank = loops.model, loops.rank(q)
    n = int(loops.is_free.sum())
    if n == rank and np.all(loops.is_free):
        raise ModelError(
            f"model {model.name!r}: its loops leave no motion ({n} velocities, {rank} independent constraints); "
            "leave a loop out, or choose kinds that hold less"
        )
    if n > rank and loops.rank(loops.nearby(q)) > rank:
        raise ModelError(
            f"model {model.name!r}: the start is a singular pose: {rank} independent constraints there, more a little "
            "way off, so that the loops do not determine how it moves; start beside it"
        )


def singular_loop(handle: Prepared, start: Array, q: Array) -> str | None:
    """The loop that no longer determines how the mechanism moves at q, where a run has ended; None if all still do."""
    loops, rank = Loops(handle), int(handle.work.closure[0].n_active)
    if not 0 < rank <= loops.is_free.sum():
        return None
    share, name = loops.weakest(q, rank)
    return name if share < MIN_SINGULAR_VALUE * loops.weakest(start, rank)[0] else None


def bends_loops(handle: Prepared) -> bool:
    """Return True if a beam that bends lies between the frames of a loop."""
    links, constraints = handle.system.links, handle.system.constraints
    moving = {int(j) for row in constraints for j in links[row.first : row.first + row.count]}
    return any(not moving.isdisjoint(range(link.v_modes.start, link.v_modes.stop)) for link in handle.model.links)


def start_on_loops(
    handle: Prepared, state: tuple[Array, Array], is_given: bool, is_closed: bool = False
) -> tuple[Array, Array]:
    """The start of a run: closed, unless virtual springs hold a start that the caller has given open on purpose.

    Also chooses which constraints are active at first, and keeps by how much closing has made the start faster.
    is_closed: it has been found here before."""
    if not handle.model.loops:
        return state
    handle.closure.use_per_state(handle.work)
    loops = Loops(handle)
    q, v = state if is_closed else on_signals(handle, *state)
    handle.start_speed_gain = 1.0
    if not is_closed and not (is_given and not handle.closure.keeps_closed):
        given = v
        q, v = closed_start(loops, q, v, loops.is_free & ~kept_velocities(handle.model, handle.model.keep))
        check_mobility(loops, q)
        handle.start_speed_gain = speed_gain(loops, given, v)
    if handle.closure.keeps_closed:
        loops.choose(q, v)
    return q, v


def initialise_multipliers(
    handle: Prepared, state: tuple[Array, Array], integrator: Integrator, t: float = 0.0
) -> None:
    """Where the integrator solves for the multipliers: those of the start, to begin with."""
    if handle.model.loops and handle.closure.has_unknowns_of(integrator):
        handle.forward_dynamics(*state, t=t)
        handle.closure.hand_to_integrator(handle.work)
