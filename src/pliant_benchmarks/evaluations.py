"""Lines about one evaluation: forward dynamics or the right-hand side, inside compiled code and from Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from timeit import Timer

import numpy as np

from pliant.engine.prepared import Prepared
from pliant.model.model import Model
from pliant_benchmarks import models, peers
from pliant_benchmarks.figures import Figure, Say, missing
from pliant_benchmarks.models import Array, Serial
from pliant_benchmarks.timing import job, measure, statement

LOOP = 1000  # evaluations per entry into compiled code
STATES = 32  # of the batch
LENGTHS = (10, 30, 100, 300, 1000)  # of the rigid chain
LINKS = (5, 10, 20, 40)  # of the flexible chain
MODES = 3  # of each of its links


def relative(found: Array, wanted: Array) -> float:
    return float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted)))


# --- rigid robots ----------------------------------------------------------------------------------------------


def compiled_loop(serial: Serial, q: Array, v: Array) -> tuple[Callable[[int], Array], Prepared]:
    """evaluate(times): forward dynamics of every row of q, v inside compiled code, so many times; returns vdot."""
    from pliant.kernels import _jit, dynamics, repeat

    handle = Prepared(models.pliant_model(serial))
    enter, forward = _jit.entry(repeat.repeat), _jit.address(dynamics.forward)
    no_tau, vdot = np.zeros((len(q), 0)), np.empty_like(v)

    def evaluate(times: int) -> Array:
        status = enter(forward, times, *handle.refs, 0.0, q, v, no_tau, vdot)
        if status:
            raise handle.failure(status)
        return vdot

    return evaluate, handle


def _pin7(q: Array, v: Array) -> tuple[Timer, Array]:
    """One call of pinocchio.aba from Python on arm7, and what it returns."""
    pin, model = peers.peer("pinocchio"), peers.pinocchio_model(models.arm7())
    data, tau = model.createData(), np.zeros(len(v))
    timer = statement("aba(model, data, q, v, tau)", aba=pin.aba, model=model, data=data, q=q, v=v, tau=tau)
    return timer, np.array(pin.aba(model, data, q, v, tau))


def pin7() -> Timer:
    """The yardstick: one call of pinocchio.aba from Python on arm7."""
    return _pin7(*(rows[0] for rows in models.random_states(models.arm7(), 1)))[0]


def _against_pin7(
    who: str, timer: Timer, count: int, state: tuple[Array, Array], vdot: Array, goal: float
) -> list[Figure]:
    """`timer` does `count` evaluations of the state, which give vdot."""
    try:
        yardstick, wanted = _pin7(*state)
    except peers.MissingPeerError as error:
        return [Figure(who, measure({who: timer})[who] / count), missing("pinocchio.aba", error)]
    best = measure({who: timer, "pin7": yardstick})
    seconds, pin7 = best[who] / count, best["pin7"]
    return [
        Figure(who, seconds, seconds / pin7, goal, error=relative(vdot, wanted)),
        Figure("pin7", pin7, note="one call of pinocchio.aba from Python"),
    ]


def arm7_loop(say: Say) -> list[Figure]:
    q, v = models.random_states(models.arm7(), 1)
    evaluate, _ = compiled_loop(models.arm7(), q, v)
    vdot = evaluate(1)[0].copy()
    return _against_pin7("pliant, compiled loop", job(lambda: evaluate(LOOP)), LOOP, (q[0], v[0]), vdot, 0.40)


def arm7_handle(say: Say) -> list[Figure]:
    q, v = (rows[0] for rows in models.random_states(models.arm7(), 1))
    call, out = Prepared(models.pliant_model(models.arm7())).forward_dynamics, np.empty(7)
    timer = statement("call(q, v, out=out)", call=call, q=q, v=v, out=out)
    return _against_pin7("pliant, prepared handle", timer, 1, (q, v), call(q, v), 1.2)


# --- batch ------------------------------------------------------------------------------------------------------


def _spherical_batch(handle: Prepared, q: Array, v: Array) -> Callable[[], Array]:
    from pliant.kernels import _jit
    from pliant.kernels.formulations import spherical_batch as module

    enter, scratch = _jit.entry(module.spherical_batch), module.new_scratch(len(handle.system.bodies))
    tau, vdot = np.zeros_like(v), np.empty_like(v)

    def evaluate() -> Array:
        status = enter(handle.refs[0], q, v, tau, vdot, scratch)
        if status:
            raise handle.failure(status)
        return vdot

    return evaluate


def _pinocchio_batch(serial: Serial, q: Array, v: Array) -> Callable[[], Array]:
    """abaInParallel on one thread; states are columns there."""
    pin = peers.peer("pinocchio")
    pool = pin.ModelPool(peers.pinocchio_model(serial), 1)
    Q, V = np.asfortranarray(q.T), np.asfortranarray(v.T)
    tau, out = np.zeros_like(V), np.empty_like(V)

    def evaluate() -> Array:
        pin.abaInParallel(1, pool, Q, V, tau, out)
        return out.T

    return evaluate


def batch(say: Say) -> list[Figure]:
    serial = models.ball_chain(20)
    q, v = models.random_states(serial, STATES)
    rows, handle = compiled_loop(serial, q, v)
    runs: dict[str, Callable[[], Array]] = {
        "articulated": lambda: rows(1),
        "boltzmann_hamel batch": _spherical_batch(handle, q, v),
    }
    goals, lost, name = {"articulated": 0.85, "boltzmann_hamel batch": 0.35}, [], "pinocchio.abaInParallel"
    try:
        runs[name] = _pinocchio_batch(serial, q, v)
    except peers.MissingPeerError as error:
        lost.append(missing(name, error))
    wanted = rows(1).copy()
    errors = {who: relative(run(), wanted) for who, run in runs.items()}
    times = measure({who: job(run) for who, run in runs.items()})
    figures = []
    for who, seconds in times.items():
        goal = goals.get(who)
        ratio = seconds / times[name] if goal and name in times else None
        note = "per state; spherical joints cost its aba digits" if who == name else "per state"
        figures.append(Figure(who, seconds / STATES, ratio, goal, error=errors[who], note=note))
    return figures + lost


# --- cost per link ----------------------------------------------------------------------------------------------


def cost_per_body(say: Say) -> list[Figure]:
    jobs = {}
    for n in LENGTHS:
        say(f"chain of {n}")
        evaluate, _ = compiled_loop(models.chain(n), *models.random_states(models.chain(n), 1))
        jobs[f"n = {n}"] = job(partial(evaluate, LOOP // n))
    best = measure(jobs)
    each = {f"n = {n}": best[f"n = {n}"] / (LOOP // n * n) for n in LENGTHS}
    return flat(each, "per body and evaluation")


def flat(each: dict[str, float], note: str) -> list[Figure]:
    """Times that should be equal."""
    spread = max(each.values()) / min(each.values())
    figures = [Figure(name, seconds, note=note) for name, seconds in each.items()]
    return [*figures, Figure("largest over least", ratio=spread, goal=1.3)]


def right_hand_side(
    model: Model, q: Array, v: Array, formulation: str = "auto"
) -> tuple[Callable[[int], Array], Prepared]:
    """evaluate(times): the right-hand side that integrators call, at one state, so many times; returns ydot.

    The phase (which points touch) is the one that follows from the state."""
    from pliant.kernels import _jit, dynamics, repeat

    handle = Prepared(model, formulation)
    handle.forward_dynamics(q, v)  # sets the phase
    enter, derivative = _jit.entry(repeat.repeat_derivative), _jit.address(dynamics.derivative)
    y = np.concatenate([q, v, np.zeros(handle.system.world[0].n_z)])
    ydot = np.empty_like(y)

    def evaluate(times: int) -> Array:
        status = enter(derivative, times, *handle.refs, 0.0, y, ydot)
        if status:
            raise handle.failure(status)
        return ydot

    return evaluate, handle


def cost_per_link(say: Say) -> list[Figure]:
    figures = []
    for formulation in ("articulated", "denoc"):
        jobs = {}
        for n in LINKS:
            say(f"{formulation}, {n} links")
            model = models.flexible_chain(n, MODES)
            evaluate, _ = right_hand_side(model, *models.small_state(model), formulation=formulation)
            jobs[n] = job(partial(evaluate, LOOP // n))
        best = measure({f"n = {n}": timer for n, timer in jobs.items()})
        each = {f"{formulation}, n = {n}": best[f"n = {n}"] / (LOOP // n * n) for n in LINKS}
        figures += flat(each, f"per link of {MODES} modes and evaluation")
    return figures


def falling_rhs(say: Say) -> list[Figure]:
    """The falling chain in flight, and with two points on the ground."""
    model = models.falling_chain()
    states = {"in flight": models.small_state(model), "two points touch": models.landing_state(model)}
    runs = {who: right_hand_side(model, *state)[0] for who, state in states.items()}
    timers = {who: job(partial(evaluate, LOOP)) for who, evaluate in runs.items()}
    try:
        yardstick = pin7()
    except peers.MissingPeerError as error:
        best = measure(timers)
        return [*(Figure(who, best[who] / LOOP) for who in runs), missing("pinocchio.aba", error)]
    best = measure({**timers, "pin7": yardstick})
    figures = [Figure(who, best[who] / LOOP, best[who] / LOOP / best["pin7"], 0.6) for who in runs]
    return [*figures, Figure("pin7", best["pin7"], note="one call of pinocchio.aba from Python")]
