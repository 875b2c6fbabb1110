"""Compile all kernels ahead of time, in two processes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

from pliant.errors import SimulationError

# two halves of about equal compile time
HALVES = (
    ("dynamics", "formulations.articulated", "inverse", "energy", "pinned", "repeat"),
    (
        "integrators.loop",
        "integrators.runge_kutta",
        "events",
        "outputs",
        "formulations.boltzmann_hamel",
        "formulations.spherical_batch",
    ),
)


def warm_up(say: Callable[[str], None]) -> float:
    """Compile (or load) every kernel; returns the seconds it took."""
    begun = time.perf_counter()
    say(f"compiling {sum(map(len, HALVES))} modules in two processes ...")
    workers = []
    for half in HALVES:
        code = "\n".join(f"import pliant.kernels.{module}" for module in half)
        workers.append(subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True))
    for worker in workers:
        _, errors = worker.communicate()
        if worker.returncode:
            raise SimulationError(f"a kernel did not compile:\n{errors}")
    return time.perf_counter() - begun
