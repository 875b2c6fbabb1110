"""Shadow runs: the same model once more, with one thing changed each: tolerance, integrator, formulation, start, number
of shapes. What changes in a figure then is an estimate of its error."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.callbacks import Progress
from pliant.engine.prepared import prepare
from pliant.engine.run_options import OFF, RUN_OPTIONS
from pliant.engine.threads import thread_count
from pliant.errors import PliantError
from pliant.mechanisms.assembly import assemble
from pliant.methods import find_method, formulations_of
from pliant.methods.closures import Closure
from pliant.methods.formulations import Formulation
from pliant.methods.integrators import Integrator
from pliant.model.model import Model
from pliant.model.more_shapes import least_growth, with_more_shapes
from pliant.model.scales import tolerances
from pliant.result import Result
from pliant.simulation.simulate import run_model
from pliant.trust.changed_models import with_stick_speed

Array = NDArray[np.float64]
CAN_BE_OFF = tuple(name for name, row in RUN_OPTIONS.items() if row.can_be_off)
TIGHTER, LOOSER = 1e-2, 10.0  # factors on rtol and atol
MORE_STEPS = 6  # times those of the plain run: of one with many more shapes
MUCH_LOOSER, MAX_RTOL = 1e3, 1e-4  # of a run of which one digit is enough
MIN_RTOL = 1e-13  # below, rounding is all
# of the run with error control beside one with fixed steps
FIXED_STEP_CONTROL: dict[str, Any] = {"step": None, "rtol": 1e-10, "atol": 1e-12}
MOVED = 1e-6  # start velocities of the neighbour, in rad/s and sizes of the model per second
MAX_MATRIX = 30  # velocities up to which a mass matrix costs no more than a recursion
LINEAR_COST = 1.5  # of another formulation, in plain runs
# two more shapes are one that is symmetric and one that is not; four more than these show how what is left out falls
# off. Odd and even numbers of shapes may err to opposite sides, so that both are even
FEW_SHAPES, MANY_SHAPES = 2, 6
MORE_COST = 1.5  # of a run with more shapes, in plain runs, over the number of velocities
SPARE = 2.0  # steps that a run of the same integrator may have more than expected
MIN_STEPS = 1000  # that every run may have
LOOK_SECONDS = 0.1  # how often the thread that looks on tells how far they are
COUNTERPART_COST = 2.0  # in plain runs: not known before


class Cause(Enum):
    """Why a figure may be off."""

    TIME = "time integration"
    FORMULATION = "formulation"
    EVENTS = "event location"
    ROUNDING = "rounding"
    STICK = "stick speed"
    MODES = "modal truncation"


@dataclass(frozen=True)
class Shadow:
    """One run to be made: what it changes, what that tells, what it costs."""

    label: str  # "rtol 1e-10"
    cause: Cause  # of which error its difference tells; ROUNDING: the neighbour, whose start is moved
    model: Model
    options: dict[str, Any]
    cost: float  # in plain runs, estimated
    v0: Array | None = None
    max_steps: int | None = None
    otherwise: Shadow | None = None  # where it fails
    growth: float = 1.0  # of the number of shapes, in the family where it is least


@dataclass(frozen=True)
class ShadowRun:
    """One that was made, or could not be."""

    shadow: Shadow
    result: Result | None
    reason: str = ""  # where it has no result, or one that failed
    instead_of: str = ""  # label of the run that failed before it

    @property
    def is_usable(self) -> bool:
        return self.result is not None and self.result.is_ok


@dataclass(frozen=True)
class Plan:
    """Which shadow runs are made, and which do not fit into the budget."""

    shadows: tuple[Shadow, ...]
    left_out: tuple[str, ...]
    budget: float  # in plain runs, the plain one included: what was asked for, and more where these are short
    seconds: float  # of computing that it takes, estimated

    @property
    def cost(self) -> float:
        return 1.0 + sum(shadow.cost for shadow in self.shadows)

    @property
    def words(self) -> str:
        what = ", ".join(f"{shadow.label} ({shadow.cost:.1f})" for shadow in self.shadows)
        left = f"; left out: {', '.join(self.left_out)}" if self.left_out else ""
        return (
            f"about {self.cost:.1f} plain runs of {self.budget:g} allowed, {self.seconds:.2g} s of computing: "
            f"the run itself (1.0), {what}{left}"
        )


def plain_runs_allowed(budget: float, seconds: float) -> float:
    """Return how many runs of so many seconds a budget allows: a plain run that is shorter than a second counts as one,
    but not as more than two plain runs or a twentieth of a second."""
    return budget * max(seconds, min(1.0, max(2.0 * seconds, 0.05))) / max(seconds, 1e-9)


def make_plan(plain: Result, options: dict[str, Any], budget: float) -> Plan:
    """Shadow runs of a run that was made, the most telling first, as long as the budget lasts."""
    chosen: list[Shadow] = []
    left_out: list[str] = []
    budget = plain_runs_allowed(budget, plain.stats["wall_s"])
    rest = budget - 1.0
    for candidates in _candidates(plain, options):
        fitting = next((shadow for shadow in candidates if shadow.cost <= rest), None)
        if fitting is not None:
            chosen.append(fitting)
            rest -= fitting.cost
        elif candidates:
            cheapest = min(candidates, key=lambda shadow: shadow.cost)
            left_out.append(f"{cheapest.label} (about {cheapest.cost:.1f} plain runs)")
    total = sum(shadow.cost for shadow in chosen)
    share = (budget - 1.0) / total if total else 1.0  # what nobody needs is for those that take longer
    capped = tuple(_capped(plain, shadow, share) for shadow in chosen)
    return Plan(capped, tuple(left_out), budget, (1.0 + total) * plain.stats["wall_s"])


def make_runs(
    shadows: Sequence[Shadow], threads: int | None = None, told: Callable[[float], None] = lambda done: None
) -> tuple[ShadowRun, ...]:
    """All of them, in threads (one after the other where controllers are Python functions). told: how much is done, in
    plain runs."""
    count = thread_count(threads)
    for shadow in shadows:  # kernels are compiled, or loaded, here and once
        prepare(shadow.model, shadow.options["formulation"])
    if any(shadow.model.calls_python for shadow in shadows):
        count = 1
    parts, stop = np.zeros(len(shadows)), threading.Event()

    def watch(k: int) -> Progress:
        def heard(t: float, t_end: float) -> None:
            if stop.is_set():
                raise KeyboardInterrupt  # it reaches the thread that looks on only, and is passed on
            parts[k] = t / t_end

        return heard

    # the longest first, so that none is left alone at the end
    order = sorted(range(len(shadows)), key=lambda k: -shadows[k].cost)
    costs = np.array([shadow.cost for shadow in shadows])
    with ThreadPoolExecutor(count) as pool:
        futures = {k: pool.submit(_made, shadows[k], watch(k)) for k in order}
        try:
            while wait(futures.values(), LOOK_SECONDS).not_done:
                told(float(parts @ costs))
            told(float(np.sum(costs)))
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return tuple(futures[k].result() for k in range(len(shadows)))


def _made(shadow: Shadow, progress: Progress) -> ShadowRun:
    # what is off is off, whatever the model says of its runs
    options = {name: OFF if value is None and name in CAN_BE_OFF else value for name, value in shadow.options.items()}
    options |= {} if shadow.max_steps is None else {"max_steps": shadow.max_steps}
    try:
        result = run_model(shadow.model, None, shadow.v0, None, progress, options)
    except PliantError as error:
        return ShadowRun(shadow, None, str(error))
    if result.status == "failed" and shadow.otherwise is not None:
        return replace(_made(shadow.otherwise, progress), instead_of=shadow.label)
    return ShadowRun(shadow, result, "" if result.is_ok else result.reason)


def _candidates(plain: Result, options: dict[str, Any]) -> list[list[Shadow]]:
    """Per question the ways to answer it, the best first; the questions by what they tell."""
    tighter = _tighter(plain, options)
    return [
        _more_shapes(plain, options, FEW_SHAPES),
        [tighter],
        [_neighbour(plain, options)],
        [_counterpart(plain, options, tighter)],
        [_other_formulation(plain, options)] if len(formulations_of(plain.model)) > 1 else [],
        _other_stick_speed(plain, options),
        _more_shapes(plain, options, MANY_SHAPES),
    ]


def _tighter(plain: Result, options: dict[str, Any]) -> Shadow:
    """The same method, with shorter steps."""
    if options["step"] is not None:
        label, changed = f"step {0.5 * options['step']:.3g} s", {"step": 0.5 * options["step"]}
        return Shadow(label, Cause.TIME, plain.model, options | changed, 2.0)
    factor = max(TIGHTER, MIN_RTOL / options["rtol"])
    if factor >= 1.0:  # rounding is all that can be seen: longer steps tell of it, too
        factor = LOOSER
    changed = {"rtol": factor * options["rtol"], "atol": factor * options["atol"]}
    cost = max(1.0, factor ** (-1.0 / _slowest(plain).order))
    # where shorter steps are too many, longer ones always fit: their error is larger, and so is the bound
    longer = {"rtol": LOOSER * options["rtol"], "atol": LOOSER * options["atol"]}
    looser = Shadow(f"rtol {longer['rtol']:.0e}", Cause.TIME, plain.model, options | longer, 1.0)
    return Shadow(f"rtol {changed['rtol']:.0e}", Cause.TIME, plain.model, options | changed, cost, otherwise=looser)


def _slowest(plain: Result) -> Integrator:
    """Of the integrators that the run has used, the one of lowest order."""
    used = [find_method("integrator", name) for name in dict.fromkeys(name for _, name in plain.integrators)]
    return min(used, key=lambda one: one.order) if used else plain_integrator(plain)


def plain_integrator(plain: Result) -> Integrator:
    assert plain.methods is not None
    return plain.methods.integrator


def _counterpart(plain: Result, options: dict[str, Any], tighter: Shadow) -> Shadow:
    """An integrator of another family, and where it fails the next one."""
    is_fixed = options["step"] is not None
    own = plain_integrator(plain) if is_fixed else _slowest(plain)
    found: Shadow | None = None
    # loops are projected at the ends of steps, which methods with a memory like least: there the last comes first
    ordered = own.counterparts if plain.model.loops else own.counterparts[::-1]
    for other in ordered:
        control = FIXED_STEP_CONTROL if is_fixed else {key: tighter.options[key] for key in ("rtol", "atol")}
        changed = _changes_for(plain, options, other, control)
        label = f"integrator {other.name}"
        shadow = Shadow(label, Cause.TIME, plain.model, options | changed, COUNTERPART_COST, otherwise=found)
        found = shadow
    assert found is not None
    return found


def _changes_for(plain: Result, options: dict[str, Any], other: Integrator, control: dict[str, Any]) -> dict[str, Any]:
    """Options that another integrator needs. control: its step and tolerances, where they change."""
    changed: dict[str, Any] = {"integrator": other, **control}
    closure: Closure | None = options["closure"]
    if closure is not None and not closure.goes_with(other):
        changed["closure"] = find_method("closure", "auto")
    formulation: Formulation = options["formulation"]
    if formulation.stepper(plain_integrator(plain)) and formulation.step_refusal(plain.model, other):
        changed["formulation"] = find_method("formulation", "auto")
    return changed


def _other_formulation(plain: Result, options: dict[str, Any]) -> Shadow:
    """Equations of motion derived another way; of large models one that needs no matrix."""
    model, own, integrator = plain.model, options["formulation"], options["integrator"]
    others = [row() for row in formulations_of(model) if not isinstance(own, row)]
    others = [one for one in others if not one.step_refusal(model, integrator)] or others
    n_v = len(model.velocities)
    linear = [one for one in others if "n^3" not in one.cost]
    other = linear[0] if linear and n_v > MAX_MATRIX else others[0]
    cost = LINEAR_COST if other in linear else LINEAR_COST + n_v / MAX_MATRIX
    changed: dict[str, Any] = {"formulation": other}
    label, closure = f"formulation {other.name}", options["closure"]
    if closure is not None and not closure.keeps_closed:  # virtual springs: what they give way is an error, too
        changed["closure"] = find_method("closure", "auto")
        label += ", loops closed"
    return Shadow(label, Cause.FORMULATION, model, options | changed, cost)


def _neighbour(plain: Result, options: dict[str, Any]) -> Shadow:
    """The same run from a start beside it: how fast neighbouring motions separate."""
    label, v0 = f"start moved by {MOVED:.0e}", moved_velocities(plain.model, plain)
    found = Shadow(label, Cause.ROUNDING, plain.model, options, 1.0, v0)
    if options["step"] is not None:
        return found
    # the moved start may make shapes vibrate that were still; rounding is told by fewer digits of that, too
    rtol = max(options["rtol"], min(MUCH_LOOSER * options["rtol"], MAX_RTOL))
    looser = options | {"rtol": rtol, "atol": rtol / options["rtol"] * options["atol"]}
    return replace(found, otherwise=replace(found, label=f"{label}, rtol {rtol:.0e}", options=looser))


def moved_velocities(model: Model, plain: Result) -> Array:
    """Start velocities beside those of a run; on the loops."""
    n_q, n_v = len(model.coordinates), len(model.velocities)
    scales = tolerances(model, 0, 1.0)[n_q : n_q + n_v]
    signs = np.random.default_rng(0).choice((-1.0, 1.0), n_v)
    v0 = plain.v[0] + MOVED * scales * signs
    return assemble(model, plain.q[0], v0)[1] if model.loops else v0


def _other_stick_speed(plain: Result, options: dict[str, Any]) -> list[Shadow]:
    """Friction that holds below twice the speed: the difference is what the speed itself makes, to first order."""
    model = with_stick_speed(plain.model, 2.0)
    return [Shadow("stick speeds doubled", Cause.STICK, model, options, 1.0)] if model is not None else []


def _more_shapes(plain: Result, options: dict[str, Any], more: int) -> list[Shadow]:
    """The beams with more shapes. Steps of an explicit method would follow the fastest of these: another takes over."""
    model = with_more_shapes(plain.model, more)
    if model is None:
        return []
    label = f"{more} more shapes per family"
    own, auto = plain_integrator(plain), find_method("integrator", "auto")
    is_fixed = options["step"] is not None
    may_change = not is_fixed and own.kind == "explicit"
    changed = options | _changes_for(plain, options, auto, {}) if may_change else options
    if more > FEW_SHAPES:  # its steps cost several times as much; without it fewer bounds hold
        most = max(MIN_STEPS, MORE_STEPS * int(plain.stats["steps"]))
        changed = changed | {"max_steps": min(options["max_steps"], most)}
    cost = MORE_COST * len(model.velocities) / len(plain.model.velocities)
    found = Shadow(label, Cause.MODES, model, changed, cost, growth=least_growth(plain.model, model))
    if not is_fixed:
        return [found]
    # what is fast may be too fast for the step
    controlled = options | _changes_for(plain, options, auto, FIXED_STEP_CONTROL)
    return [replace(found, otherwise=replace(found, label=f"{label}, {auto.name}", options=controlled))]


def _capped(plain: Result, shadow: Shadow, share: float) -> Shadow:
    """With an end to its steps, so that the budget holds; fixed steps are counted beforehand."""
    if shadow.options["step"] is not None:
        return shadow
    relative = max(1.0, share) * (1.0 if shadow.cause is Cause.FORMULATION else shadow.cost)
    integrator: Integrator = shadow.options["integrator"]
    if integrator == plain_integrator(plain):
        allowed = SPARE * relative * plain.stats["steps"]
    else:
        allowed = relative * plain.stats["evaluations"] / integrator.evaluations_per_step
    allowed = max(MIN_STEPS, math.ceil(allowed))
    otherwise = _capped(plain, shadow.otherwise, share) if shadow.otherwise is not None else None
    return replace(shadow, max_steps=min(allowed, shadow.options["max_steps"]), otherwise=otherwise)
