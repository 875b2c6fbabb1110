"""Lines about whole runs: every engine at the setting that first meets the stated error."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.engine.prepared import Prepared
from pliant.errors import SimulationError
from pliant.model.flexible import Bending
from pliant.simulation.prepared_run import prepare_run
from pliant.simulation.simulate import simulate
from pliant_benchmarks import cables, models, peers
from pliant_benchmarks.falling_reference import FallingChain
from pliant_benchmarks.figures import Figure, Say, missing
from pliant_benchmarks.models import Array, Cables, Serial
from pliant_benchmarks.peers import Engine, Setting, adaptive
from pliant_benchmarks.timing import ROUNDS, job, measure

CHAIN_ERROR = 1e-6  # [rad]
BOUNCE_ERROR = 1e-5  # [rad]
INSTANT_ERROR = 1e-9  # [s]
TIP_ERROR = 1e-3  # [m]
FALL = 1.5  # [s] of bounce3 and falling-chain
COMPARED = 1.06  # [s]: later impacts of the falling chain repeat errors 100 times larger
ROUGH, SLOW = 12, 5  # rounds of timing for runs that take long; that take seconds


def _rough(run: peers.Run) -> float:
    return measure({"": job(run)}, ROUGH)[""]


def choose(
    engine: Engine,
    problem: Any,
    reference: Array,
    limit: float,
    cost: Callable[[peers.Run], float] = _rough,
    norm: Callable[[Array], float] = peers.largest,
) -> peers.Chosen | Figure:
    """The engine's best setting, or a row that says why there is none."""
    try:
        best = peers.within(engine, problem, reference, limit, cost, norm)
    except peers.MissingPeerError as error:
        return missing(engine.name, error)
    return best or Figure(engine.name, note=f"no setting meets the error {limit:g}")


def compare(choices: dict[str, peers.Chosen | Figure], goals: dict[str, float], rounds: int) -> list[Figure]:
    """The first is pliant; the ratio of each other says how many times pliant's time it takes."""
    chosen = {name: found for name, found in choices.items() if isinstance(found, peers.Chosen)}
    times = measure({name: job(found.run) for name, found in chosen.items()}, rounds)
    figures = [found for found in choices.values() if isinstance(found, Figure)]
    rows = []
    for name, best in chosen.items():
        ratio = times[name] / times["pliant"] if name != "pliant" and "pliant" in times else None
        rows.append(Figure(name, times[name], ratio, goals.get(name), True, best.error, str(best.setting)))
    return rows + figures


def _options(setting: Setting) -> dict[str, Any]:
    return {"integrator": setting.scheme, "rtol": setting.rtol, "atol": setting.atol}


# --- chains -----------------------------------------------------------------------------------------------------


def _chain(n: int, goals: dict[Engine, float], say: Say) -> list[Figure]:
    serial = models.chain(n)
    reference = peers.PLIANT.prepare(serial)(Setting("dop853", 1e-13, 1e-13))()
    choices = {}
    for engine in (peers.PLIANT, *goals):
        say(f"sweeping {engine.name}")
        choices[engine.name] = choose(engine, serial, reference, CHAIN_ERROR)
    say("timing")
    return compare(choices, {engine.name: goal for engine, goal in goals.items()}, ROUNDS)


def chain3(say: Say) -> list[Figure]:
    return _chain(3, {peers.EXUDYN: 8.0, peers.MUJOCO: 13.0, peers.PINOCCHIO: 30.0, peers.NUMPY: 140.0}, say)


def chain10(say: Say) -> list[Figure]:
    return _chain(10, {peers.EXUDYN: 20.0, peers.MUJOCO: 12.0, peers.PINOCCHIO: 18.0, peers.NUMPY: 60.0}, say)


# --- bounce3 ----------------------------------------------------------------------------------------------------

# errors of one run after impacts differ by a factor of ten between neighbouring tolerances: of one start a sweep finds
# the setting that had luck
BOUNCE_STARTS = np.linspace(-0.25, 0.25, 9)  # [rad] added to the first start angle


def _typical(differences: Array) -> float:
    """Of the starts (rows) the median of the largest difference."""
    return float(np.median(np.max(differences, axis=1)))


def _bounce_starts(serial: Serial) -> Array:
    starts = np.tile(serial.q0, (len(BOUNCE_STARTS), 1))
    starts[:, 0] += BOUNCE_STARTS
    return starts


def _pliant_bounce(serial: Serial) -> Callable[[Setting], peers.Run]:
    model, starts = models.bounce(serial), _bounce_starts(serial)

    def ready(setting: Setting) -> peers.Run:
        end = prepare_run(model, FALL, **_options(setting)).end
        return lambda: np.array([end(q0)[0] for q0 in starts])

    return ready


def _scipy_bounce(serial: Serial) -> Callable[[Setting], peers.Run]:
    """solve_ivp on pliant's right-hand side, begun anew wherever the tip meets or leaves the floor."""
    solve, n, length = importlib.import_module("scipy.integrate").solve_ivp, serial.count, serial.way[0]
    forward = Prepared(models.bounce(serial)).forward_dynamics
    starts = _bounce_starts(serial)

    def rates(t: float, y: Array) -> Array:
        out = np.empty(2 * n)
        out[:n] = y[n:]
        forward(y[:n], y[n:], out=out[n:])
        return out

    def gap(t: float, y: Array) -> float:
        angle, height = 0.0, -models.FLOOR
        for q in y[:n].tolist():
            angle += q
            height += length * math.sin(angle)
        return height

    def one_run(q0: Array, setting: Setting) -> Array:
        t, y, direction = 0.0, np.concatenate([q0, np.zeros(n)]), -1.0
        event: Any = gap
        event.terminal = True
        while t < FALL:
            event.direction = direction
            found = solve(
                rates, (t, FALL), y, method=setting.scheme, rtol=setting.rtol, atol=setting.atol, events=event
            )
            t, y, direction = found.t[-1], found.y[:, -1], -direction
        return np.asarray(y[:n])

    def ready(setting: Setting) -> peers.Run:
        return lambda: np.array([one_run(q0, setting) for q0 in starts])

    return ready


PLIANT_BOUNCE = Engine("pliant", (), adaptive("dop853", "bs5", "dopri5", "rkf45"), _pliant_bounce)
SCIPY_BOUNCE = Engine("SciPy RK45 with events", ("scipy",), adaptive("RK45"), _scipy_bounce)


def bounce3(say: Say) -> list[Figure]:
    serial = models.chain(3)
    reference = PLIANT_BOUNCE.prepare(serial)(Setting("dop853", 1e-13, 1e-13))()
    choices = {}
    for engine in (PLIANT_BOUNCE, SCIPY_BOUNCE):
        say(f"sweeping {engine.name}")
        choices[engine.name] = choose(engine, serial, reference, BOUNCE_ERROR, norm=_typical)
    say("timing")
    return compare(choices, {SCIPY_BOUNCE.name: 80.0}, ROUNDS)


# --- falling chain ----------------------------------------------------------------------------------------------

# half decades; with atol as large as rtol SciPy's first steps in contact are hopelessly long
FINE = tuple((10.0 ** (-k / 2), 0.01 * 10.0 ** (-k / 2)) for k in range(14, 25))


def early(instants: Array) -> Array:
    """Contact instants that are compared, sorted."""
    return np.sort(instants[instants < COMPARED])


def _pliant_falling(modes: str) -> Callable[[Setting], peers.Run]:
    model = models.falling_chain(modes)

    def ready(setting: Setting) -> peers.Run:
        end = prepare_run(model, FALL, **_options(setting)).end
        return lambda: end()[0]

    return ready


def _pliant_instants(modes: str, setting: Setting) -> Array:
    found = simulate(models.falling_chain(modes), FALL, dense=False, **_options(setting))
    if found.status != "done":
        raise SimulationError(found.reason)
    return early(found.contacts.t_start)


def _scipy_falling(modes: str) -> Callable[[Setting], peers.Run]:
    def ready(setting: Setting) -> peers.Run:
        def run() -> Array:
            starts = FallingChain(modes).contact_starts(FALL, setting.rtol, setting.atol, setting.scheme)
            return early(np.array([t for _, t in starts]))

        return run

    return ready


PLIANT_FALLING = Engine(
    "pliant",
    (),
    tuple(tuple(Setting(scheme, *pair) for pair in FINE) for scheme in ("dop853", "adams")),
    _pliant_falling,
    _pliant_instants,
)
SCIPY_FALLING = Engine(
    "SciPy DOP853 + numpy", ("scipy",), (tuple(Setting("DOP853", *pair) for pair in FINE),), _scipy_falling
)


def falling_chain(say: Say) -> list[Figure]:
    modes = "ss-ss-ss"
    reference = _pliant_instants(modes, Setting("dop853", 1e-13, 1e-15))
    choices = {}
    for engine in (PLIANT_FALLING, SCIPY_FALLING):
        say(f"sweeping {engine.name}")
        # SciPy has one sweep, and takes long
        cost = _rough if engine is PLIANT_FALLING else lambda run: 0.0
        choices[engine.name] = choose(engine, modes, reference, INSTANT_ERROR, cost)
    say("timing")
    return compare(choices, {SCIPY_FALLING.name: 150.0}, SLOW)


# --- flex3 ------------------------------------------------------------------------------------------------------

# one mode leaves 3e-3 m, a third one changes 1e-4 m
BENDING = Bending(2, "ss")


def _pliant_cables(problem: Cables) -> Callable[[Setting], peers.Run]:
    model = models.cables_model(problem, BENDING)

    def ready(setting: Setting) -> peers.Run:
        end = prepare_run(model, cables.DURATION, **_options(setting)).end
        return lambda: end()[0]

    return ready


def _pliant_tip(problem: Cables, setting: Setting) -> Array:
    """On the grid of 10 ms."""
    found = simulate(models.cables_model(problem, BENDING), cables.DURATION, **_options(setting))
    if found.status != "done":
        raise SimulationError(found.reason)
    return found.outputs_at(cables.GRID)["tip"][:, :2]


PLIANT_CABLES = Engine(
    "pliant", (), adaptive("dop853", "bs5", "dopri5", "rkf45", "radau", "ark4", "ark5"), _pliant_cables, _pliant_tip
)
STATED_CABLES = Engine("Exudyn, h = .2 ms, 3 x 4", ("exudyn",), ((cables.STATED,),), cables.prepare)
EXUDYN_CABLES = Engine("Exudyn at its best", ("exudyn",), cables.SWEEPS, cables.prepare)


def flex3(say: Say) -> list[Figure]:
    problem = Cables()
    say("fine runs of Exudyn")
    try:
        native, clamped = (cables.fine(problem, law) for law in ("native", "clamped"))
    except peers.MissingPeerError as error:
        return [missing("Exudyn", error)]
    # the stated setting is timed whatever its error, which depends on how its steps happen to meet the contacts
    asked = ((PLIANT_CABLES, clamped, TIP_ERROR), (STATED_CABLES, native, np.inf), (EXUDYN_CABLES, native, TIP_ERROR))
    choices = {}
    for engine, reference, limit in asked:
        say(f"sweeping {engine.name}")
        choices[engine.name] = choose(engine, problem, reference, limit)
    say("timing")
    return compare(choices, {STATED_CABLES.name: 10.0, EXUDYN_CABLES.name: 8.0}, ROUGH)
