"""pliant bench: one row per line. CPU time, one thread, least of many rounds; only ratios are goals."""

from __future__ import annotations

import difflib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.engine.prepared import NOTHING, Prepared
from pliant.errors import ModelError, PliantError, SimulationError
from pliant.files import check_writable
from pliant_benchmarks import models, peers
from pliant_benchmarks.automatic import automatic
from pliant_benchmarks.blades import blade_cost, blades10, blades40
from pliant_benchmarks.canadarm import canadarm_rhs, canadarm_run
from pliant_benchmarks.contacts import contacts100
from pliant_benchmarks.differences import differences
from pliant_benchmarks.evaluations import arm7_handle, arm7_loop, batch, cost_per_body, cost_per_link, falling_rhs
from pliant_benchmarks.figures import Figure, Say, print_figures, save_figures
from pliant_benchmarks.loops import loop_steps
from pliant_benchmarks.runs import bounce3, chain3, chain10, falling_chain, flex3
from pliant_benchmarks.springs import springs
from pliant_benchmarks.startup import startup
from pliant_benchmarks.steps import steps
from pliant_benchmarks.stiff import stiff
from pliant_benchmarks.studies import study
from pliant_benchmarks.sweeps import sweep
from pliant_benchmarks.transfer import transfer_cost, transfer_runs


@dataclass(frozen=True)
class Line:
    """One line of the bench."""

    name: str
    what: str
    goal: str
    measure: Callable[[Say], list[Figure]]


LINES = (
    Line(
        "differences",
        "the same robots by other engines: accelerations, ends of runs",
        "none: how far they are apart",
        differences,
    ),
    Line("arm7_loop", "forward dynamics of arm7 inside a compiled loop", "<= .40 pin7", arm7_loop),
    Line("arm7_handle", "the same, one call of the prepared handle from Python", "<= 1.2 pin7", arm7_handle),
    Line("batch", "32 states of a 20-body spherical chain, per state", "<= .85, .35 of pinocchio.abaInParallel", batch),
    Line("chain3", "chain 3, 1 s, error 1e-6", "Exudyn / 8, MuJoCo / 13, pinocchio / 30, numpy / 140", chain3),
    Line("chain10", "chain 10, 1 s, error 1e-6", "Exudyn / 20, MuJoCo / 12, pinocchio / 18, numpy / 60", chain10),
    Line("cost_per_body", "one evaluation per body, chain n = 10 .. 1000", "flat within 30 %", cost_per_body),
    Line("stiff12", "chain 6 with stiff joints, 2 s, state error 1e-6", "CyRK RADAU / .83, SciPy Radau / 20", stiff),
    Line(
        "bounce3",
        "chain 3 bouncing from nine starts, 1.5 s each, median error 1e-5",
        "SciPy RK45 with events / 80",
        bounce3,
    ),
    Line("falling_rhs", "right-hand side of falling-chain inside a compiled loop", "<= .6 pin7", falling_rhs),
    Line("cost_per_link", "the same per link of 3 modes, 5 .. 40 links", "flat within 30 %", cost_per_link),
    Line(
        "falling_chain", "falling-chain, 1.5 s, instants before 1.06 s to 1e-9 s", "SciPy + numpy / 150", falling_chain
    ),
    Line(
        "canadarm_rhs",
        "right-hand side of canadarm, 22 velocities, inside a compiled loop",
        "<= 1.8 pin7",
        canadarm_rhs,
    ),
    Line(
        "canadarm_run", "its fall and impact, 0.7 s, rtol 1e-8", "SciPy DOP853 on the same equations / 20", canadarm_run
    ),
    Line("flex3", "three flexible links on a floor, tip error 1e-3 m", "Exudyn at its best / 8", flex3),
    Line(
        "blades10",
        "ten falling steel blades with stretch, .5 s, error 1e-3: ark",
        "best explicit / 100, radau / 5",
        blades10,
    ),
    Line("blades40", "forty of them", "radau / 20", blades40),
    Line(
        "auto",
        "time of integrator auto over that of the best single choice, at equal error, on models of other lines",
        "<= 1.3",
        automatic,
    ),
    Line("blade_cost", "a step of ark4 per blade, 10 .. 100 blades", "flat within 30 %", blade_cost),
    Line(
        "springs",
        "3RRR on virtual springs, 1e6 N/m, 6 s, rtol 1e-3",
        "SciPy + numpy / 100",
        springs,
    ),
    Line(
        "loop_steps",
        "a step of generalised_alpha on 10, 20, 40 four-bars, multipliers its unknowns",
        "<= 1 pin7 per loop",
        loop_steps,
    ),
    Line(
        "contacts100",
        "a hundred contacts that land, stick and slip, 1 s: one plate, a chain, boxes",
        "<= 60 times real time",
        contacts100,
    ),
    Line(
        "transfer_cost",
        "discrete-time transfer matrices, per element and step, n = 10 .. 10000",
        "linear <= .012 pin7, nonlinear <= .045 pin7, flat within 30 %",
        transfer_cost,
    ),
    Line(
        "transfer_runs",
        "a beam of 10 and 40 segments slewed, 1 s, angles to 1e-4: four ways",
        "none: how many times transfer matrices' time the others take",
        transfer_runs,
    ),
    Line("sweep", "64000 runs of chain 3, 1 s, rtol 1e-6, in one call", ">= 20000 runs/s; two: 1.9x", sweep),
    Line(
        "study", "rows of studies: cost, places, store, a scheduler of 64 workers", "flat within 30 %; two: 1.9x", study
    ),
    Line("stepper", "steps of 0.01 s of chain 3, torques from Python", ">= 1e5 steps/s", steps),
    Line("startup", "import, first run, cached run, warmup (wall time)", ".3, 15, 1, 60 s", startup),
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
    """Measure these lines (all if none are named) and print them; `out`, if given, holds after every line what is
    measured so far. A line that fails, a file that cannot be written or Ctrl-C lose nothing of the others: the table
    is printed, then a SimulationError says what went wrong."""
    lines = select(names)
    if out is not None:
        check_writable(out)
    _say("kernels")("compiling, or loading from the cache")
    ready_s = _load_kernels()
    found: dict[str, list[Figure]] = {}
    wrong: dict[str, str] = {}  # what went wrong, in the order of importance in which it is said

    def save(status: str) -> None:
        if out is None or not found or "file" in wrong:
            return
        try:
            save_figures(out, found, {line.name: line.goal for line in lines}, ready_s, status)
        except (OSError, PliantError) as error:
            wrong["file"] = f"{error}; the table above has what was measured"

    failed = []
    try:
        for line in lines:
            say = _say(line.name)
            say(line.what)
            try:
                found[line.name] = line.measure(say)
            except Exception as error:  # whatever an engine of somebody else may raise
                found[line.name] = [Figure("", note=f"failed: {type(error).__name__} {error}".rstrip())]
                failed.append(line.name)
            save("running")
    except KeyboardInterrupt:
        if not found:
            raise
        left = [line.name for line in lines if line.name not in found]
        wrong["interrupted"] = f"interrupted by Ctrl-C; not measured: {', '.join(left) or 'nothing'}"
    if failed:
        wrong["failed"] = f"failed in {', '.join(failed)}, as the table says"
    save("interrupted" if "interrupted" in wrong else "failed" if failed else "done")
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print_figures(found)
    print(f"kernels were ready after {ready_s:.2f} s; ratios of runs: time of the peer over pliant's")
    if out is not None and "file" not in wrong:
        print(f"written: {out}")
    if wrong:
        raise SimulationError(f"bench: {'; '.join(wrong.values())}")
