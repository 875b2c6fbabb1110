"""Compile kernels ahead of time, in two processes."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from pliant.errors import SimulationError
from pliant.machine import python_process

# What every run needs. One process takes from the front, the other from the back, until they meet: neighbours share
# helpers, which each process has to compile for itself, and the last ones are short.
FIRST_RUN = (
    "formulations.articulated.articulated",
    "integrators.advance.advance",
    "energy.energies",
    "energy.measure",
    "energy.momenta",
    "integrators.runge_kutta.step",
    "integrators.runge_kutta.interpolate",
    "dynamics.derivative",
    "friction_check.check_friction",
    "events.start_phase",
    "outputs.placements",
    "outputs.record_normal_forces",
    "events.switch",
    "contact.phase.set_phase",
    "outputs.record_outputs",
    "events.event_functions",
    "kinematics.tree.move_and_place",
    "dynamics.prepare",
)
DONE = "compiled\n"


class Worker:
    """A process that compiles kernels, told their names one after the other."""

    def __init__(self) -> None:
        python, environment = python_process()
        command = [*python, "-c", "from pliant.engine.warmup import compile_named; compile_named()"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self._process: subprocess.Popen[str]
        self._process = subprocess.Popen(command, env=environment, **pipes)  # type: ignore[call-overload]

    def compile_all(self, take: Callable[[], str]) -> None:
        """What take() gives, until it raises IndexError; then the process ends."""
        with self._process as process:
            assert process.stdin is not None
            assert process.stdout is not None
            said, answer = "", DONE
            while answer:
                try:
                    process.stdin.write(f"{take()}\n")
                    process.stdin.flush()
                except (IndexError, BrokenPipeError):  # another process has taken the last one; this one has died
                    break
                while answer := process.stdout.readline():
                    if answer == DONE:
                        break
                    said += answer
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            said += process.stdout.read()
        if process.returncode:
            raise SimulationError(f"a kernel did not compile:\n{said}")

    def stop(self) -> None:
        with self._process as process:
            process.kill()


def start_workers() -> tuple[Worker, ...]:
    """For warm_up, or to be stopped. They load numba at once, which takes half a second."""
    return Worker(), Worker()


def warm_up(is_first_run: bool = False, workers: Sequence[Worker] = ()) -> float:
    """Compile (or load) every kernel, or only what a first run needs; returns the seconds it took. workers: two that
    were started before."""
    begun = time.perf_counter()
    waiting = deque(FIRST_RUN if is_first_run else all_kernels())
    first, last = workers or start_workers()
    with ThreadPoolExecutor(2) as threads:
        ways = ((first, waiting.popleft), (last, waiting.pop))
        for each in [threads.submit(worker.compile_all, take) for worker, take in ways]:
            each.result()
    return time.perf_counter() - begun


def all_kernels() -> Sequence[str]:
    """Names of all there are: those of a first run, then the others."""
    from pliant import kernels
    from pliant.kernels import _jit

    for module in pkgutil.walk_packages(kernels.__path__, "pliant.kernels."):
        if "._" not in module.name:
            importlib.import_module(module.name)
    return [*FIRST_RUN, *sorted(_jit.KERNELS.keys() - set(FIRST_RUN))]


def compile_named() -> None:
    """The other process: a kernel for each line that comes in."""
    from pliant.kernels import _jit

    gc.disable()  # numba's millions of objects stay: looking through them is a twelfth of the time
    if _jit.COMPILES and _jit.IS_COMPILED:
        importlib.import_module("pliant.kernels._numba")  # while nothing is asked for yet
    for line in sys.stdin:
        name = line.strip()
        importlib.import_module(f"pliant.kernels.{name.rpartition('.')[0]}")
        _jit.compile_kernel(name)
        sys.stdout.write(DONE)
        sys.stdout.flush()
    os._exit(0)  # all is on the disk; taking apart what numba has built would take two seconds
