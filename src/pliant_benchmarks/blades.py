"""Lines about stiff chains: hinged steel blades with stretch, by explicit, implicit and semi-implicit integrators.

Errors are of all coordinates at the end, against radau at 1e-11. What explicit methods take is bound by stability, so
only loose tolerances are tried with them."""

from __future__ import annotations

from collections.abc import Callable

from pliant.simulation.prepared_run import prepare_run
from pliant_benchmarks import models, peers
from pliant_benchmarks.evaluations import flat
from pliant_benchmarks.figures import Figure, Say
from pliant_benchmarks.peers import Engine, Setting
from pliant_benchmarks.runs import ROUGH, SLOW, choose, compare
from pliant_benchmarks.timing import job, measure

DURATION = 0.5  # [s] of the fall
ERROR = 1e-3  # [rad, m]
LINKS = (10, 20, 40, 100)
STEP, STEPS = 2e-4, 100  # [s]; in which all of them are stiff
REFERENCE = Setting("radau", 1e-11, 1e-13)
LOOSE = tuple(10.0 ** (-k / 4) for k in range(6, 21))


def _pliant(n: int) -> Callable[[Setting], peers.Run]:
    model = models.blades(n)

    def ready(setting: Setting) -> peers.Run:
        end = prepare_run(model, DURATION, integrator=setting.scheme, rtol=setting.rtol, atol=setting.atol).end
        return lambda: end()[0]

    return ready


def _engine(name: str, *schemes: str, only: int | None = None) -> Engine:
    tolerances = LOOSE[:only]
    return Engine(name, (), tuple(tuple(Setting(each, rtol, rtol) for rtol in tolerances) for each in schemes), _pliant)


PLIANT = _engine("pliant", "ark4", "ark5")
RADAU = _engine("radau", "radau")
AUTO = _engine("auto", "auto")
EXPLICIT = _engine("best explicit", "dop853", "dopri5", only=7)


def _compare(n: int, goals: dict[Engine, float], rounds: int, say: Say) -> list[Figure]:
    say("reference")
    reference = _pliant(n)(REFERENCE)()
    choices = {}
    for engine in (PLIANT, *goals, AUTO):
        say(f"sweeping {engine.name}")
        choices[engine.name] = choose(engine, n, reference, ERROR, lambda run: measure({"": job(run)}, 1)[""])
    say("timing")
    return compare(choices, {engine.name: goal for engine, goal in goals.items()}, rounds)


def blades10(say: Say) -> list[Figure]:
    return _compare(10, {RADAU: 5.0, EXPLICIT: 100.0}, ROUGH, say)


def blades40(say: Say) -> list[Figure]:
    return _compare(40, {RADAU: 20.0}, SLOW, say)


def blade_cost(say: Say) -> list[Figure]:
    """Of a step of ark4 per blade."""
    runs = {}
    for n in LINKS:
        say(f"{n} blades")
        runs[n] = prepare_run(models.blades(n), STEPS * STEP, integrator="ark4", step=STEP).end
    best = measure({f"n = {n}": job(run) for n, run in runs.items()}, ROUGH)
    return flat({f"n = {n}": best[f"n = {n}"] / (n * STEPS) for n in LINKS}, "per blade and step of ark4")
