"""pliant bench: one row per line. CPU time, one thread, least of many rounds; only ratios are goals."""

from __future__ import annotations

import difflib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from timeit import Timer

import numpy as np

from pliant.bench import models, peers
from pliant.bench.figures import Figure, missing, print_figures, save_figures
from pliant.bench.models import Array, Serial
from pliant.bench.startup import startup
from pliant.bench.timing import job, measure, statement
from pliant.dynamics import NOTHING, Prepared
from pliant.errors import ModelError

Say = Callable[[str], None]
LOOP = 1000  # evaluations per entry into compiled code
STATES = 32  # of the batch
ERROR = 1e-6  # [rad] of the chains
LENGTHS = (10, 30, 100, 300, 1000)


def relative(found: Array, wanted: Array) -> float:
    return float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted)))


# --- one evaluation ---------------------------------------------------------------------------------------------


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


# --- chains -----------------------------------------------------------------------------------------------------


def _rough(run: peers.Run) -> float:
    return measure({"": job(run)}, rounds=12)[""]


def _compare(n: int, goals: dict[peers.Engine, float], say: Say) -> list[Figure]:
    """Every engine at the setting that first meets the error; the ratio says how many times pliant's time it takes."""
    serial = models.chain(n)
    reference = peers.PLIANT.prepare(serial)(peers.Setting("dop853", 1e-13, 1e-13))()
    chosen: dict[str, peers.Chosen] = {}
    lost = []
    for engine in (peers.PLIANT, *goals):
        say(f"sweeping {engine.name}")
        try:
            best = peers.within(engine, serial, reference, ERROR, _rough)
        except peers.MissingPeerError as error:
            lost.append(missing(engine.name, error))
            continue
        if best is None:
            lost.append(Figure(engine.name, note=f"no setting meets the error {ERROR:g}"))
        else:
            chosen[engine.name] = best
    say("timing")
    times = measure({name: job(found.run) for name, found in chosen.items()})
    figures = [Figure("pliant", times["pliant"], error=chosen["pliant"].error, note=str(chosen["pliant"].setting))]
    for engine, goal in goals.items():
        if engine.name in chosen:
            seconds, best = times[engine.name], chosen[engine.name]
            ratio = seconds / times["pliant"]
            figures.append(Figure(engine.name, seconds, ratio, goal, True, best.error, str(best.setting)))
    return figures + lost


def chain3(say: Say) -> list[Figure]:
    goals = {peers.EXUDYN: 6.0, peers.MUJOCO: 10.0, peers.PINOCCHIO: 8.0, peers.NUMPY: 100.0}
    return _compare(3, goals, say)


def chain10(say: Say) -> list[Figure]:
    goals = {peers.EXUDYN: 8.0, peers.MUJOCO: 7.0, peers.PINOCCHIO: 7.0, peers.NUMPY: 40.0}
    return _compare(10, goals, say)


def cost_per_body(say: Say) -> list[Figure]:
    jobs = {}
    for n in LENGTHS:
        say(f"chain of {n}")
        evaluate, _ = compiled_loop(models.chain(n), *models.random_states(models.chain(n), 1))
        jobs[f"n = {n}"] = job(partial(evaluate, LOOP // n))
    best = measure(jobs)
    each = {f"n = {n}": best[f"n = {n}"] / (LOOP // n * n) for n in LENGTHS}
    spread = max(each.values()) / min(each.values())
    figures = [Figure(name, seconds, note="per body and evaluation") for name, seconds in each.items()]
    return [*figures, Figure("largest over least", ratio=spread, goal=1.3)]


# --- the table --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One line of the bench."""

    name: str
    what: str
    goal: str
    measure: Callable[[Say], list[Figure]]


LINES = (
    Line("arm7_loop", "forward dynamics of arm7 inside a compiled loop", "<= .40 pin7", arm7_loop),
    Line("arm7_handle", "the same, one call of the prepared handle from Python", "<= 1.2 pin7", arm7_handle),
    Line("batch", "32 states of a 20-body spherical chain, per state", "<= .85, .35 of pinocchio.abaInParallel", batch),
    Line("chain3", "chain 3, 1 s, error 1e-6", "Exudyn / 6, MuJoCo / 10, pinocchio / 8, numpy / 100", chain3),
    Line("chain10", "chain 10, 1 s, error 1e-6", "Exudyn / 8, MuJoCo / 7, pinocchio / 7, numpy / 40", chain10),
    Line("cost_per_body", "one evaluation per body, chain n = 10 .. 1000", "flat within 30 %", cost_per_body),
    Line("startup", "import, first run, cached run, warmup (wall time)", ".3, 25, 2, 60 s", startup),
)


def select(names: list[str]) -> tuple[Line, ...]:
    """The lines of these names, all if there are none."""
    known = {line.name: line for line in LINES}
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ModelError(f"bench line {name!r} is not known{hint} (known: {', '.join(known)})")
    return tuple(line for line in LINES if not names or line.name in names)


def _load_kernels() -> float:
    """Seconds to compile the kernels or to load them from the cache: apart from every line."""
    begun = time.perf_counter()
    handle = Prepared(models.pliant_model(models.arm7()))
    handle.forward_dynamics(np.zeros(7), np.zeros(7), NOTHING)
    peers.PLIANT.prepare(models.chain(1))(peers.Setting("dop853", 1e-6, 1e-6))()
    return time.perf_counter() - begun


def _say(name: str) -> Say:
    """Progress of a line on stderr: one line that changes on a terminal, else one after the other."""
    opening, closing = ("\r\x1b[K", "") if sys.stderr.isatty() else ("", "\n")
    return lambda text: print(f"{opening}bench {name}: {text} ...", end=closing, file=sys.stderr, flush=True)


def run_bench(names: list[str], out: Path | None) -> None:
    """Measure these lines (all if none are named), print them, and write them as JSON if `out` is given."""
    lines = select(names)
    _say("kernels")("compiling, or loading from the cache")
    ready_s = _load_kernels()
    found = {}
    for line in lines:
        say = _say(line.name)
        say(line.what)
        found[line.name] = line.measure(say)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print_figures(found)
    print(f"kernels were ready after {ready_s:.2f} s; ratios of chains: time of the peer over pliant's")
    if out is not None:
        save_figures(out, found, {line.name: line.goal for line in lines}, ready_s)
