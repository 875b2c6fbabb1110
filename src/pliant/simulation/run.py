"""A run on its way: the integrator's memory, the compiled loop entered again and again, what it records."""

from __future__ import annotations

import functools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.callbacks import CallbackError, Progress
from pliant.engine.prepared import Prepared
from pliant.machine import address_reserve
from pliant.methods.integrators import Integrator
from pliant.model.scales import tolerances
from pliant.simulation.auto_integrator import IMPLICIT, STIFF_STEPS, AutoChoice, say_if_compiling
from pliant.simulation.controllers import Sampler
from pliant.simulation.recorder import OutOfMemoryError, Recorded
from pliant.system.memory import Memory, new_memory, with_method
from pliant.system.newton import find_unknowns
from pliant.system.status import Status

Array = NDArray[np.float64]
FIRST_WORK = 20000  # steps times velocities before the first look
# what putting speeds back on the loops may change, which is about the error of a step
PROJECTED = 1e3  # tolerances
MOST_PROJECTED = 0.1  # of the speeds
SHORT_STEPS = 20
# e^2 of kernels/closures/multipliers.py
SOFTNESS = (1e-8, 1e-6)
MOST_SOFTNESS = 1e-2  # of projections
STEP_SOFTENED = 4.0
ROUNDED = 4e-15  # of a condition, over its scale
PAUSE_SECONDS = 0.1  # between two looks at Ctrl-C and the progress bar
GOES_ON = (Status.SAMPLE, Status.PAUSE, Status.BUFFER_FULL)


def as_bytes(table: Any) -> NDArray[np.uint8]:
    """The memory of a table of records: copied in a fraction of a microsecond, records one by one take twenty."""
    return table.view(np.ndarray).view(np.uint8)  # type: ignore[no-any-return]


def _may_change(options: dict[str, Any]) -> bool:
    """Whether the integrator may become an implicit one on the way, as far as the closure goes with that."""
    closure = options["closure"]
    return bool(options["integrator"].may_change and (closure is None or closure.goes_with(IMPLICIT)))


class Run:
    """A run on its way: the handle, the integrator's memory, and the compiled loop to enter again and again."""

    def __init__(self, handle: Prepared, state: tuple[Array, Array], options: dict[str, Any], wants_rows: bool) -> None:
        from pliant.kernels import _jit
        from pliant.kernels.integrators import loop

        self.handle = handle
        self._advance = _jit.entry(loop.advance)
        self._pin(_new_memory(handle, state, options, wants_rows))
        self._first, self._newton = self.memory, as_bytes(self.memory.newton)
        self._newton0 = self._newton.copy()
        first = options["integrator"].first
        self.choice = AutoChoice(first) if _may_change(options) else None
        self.integrators: list[tuple[float, Integrator]] = [(0.0, first)]
        self.allowed_memory = options["memory"]

    def _pin(self, memory: Memory) -> None:
        from pliant.kernels.tables import Pinned

        self.memory = memory
        self._pinned = Pinned(memory)
        self.memory_ref = self._pinned.ref
        self._refs = (*self.handle.refs, self.memory_ref)

    def enter(self) -> int:
        """Go on; returns a Status."""
        return int(self._advance(*self._refs))

    def enter_interruptibly(self) -> int:
        """Go on in another thread, so that Ctrl-C is heard at once; the loop then comes back from wherever it is."""
        if threading.current_thread() is not threading.main_thread():
            return self.enter()
        job = _worker().submit(self.enter)
        try:
            return job.result()
        except KeyboardInterrupt:
            self.memory.loop[0].stop = 1
            job.exception()
            raise

    def begin_again(self) -> None:
        """As it was before the first step, but for y and the row of the loop."""
        if self.memory is not self._first:
            self._pin(self._first)
        self._newton[:] = self._newton0
        if self.choice is not None:
            self.choice = AutoChoice(self.integrators[0][1])
        del self.integrators[1:]

    def change_integrator(self, scheme: Integrator) -> None:
        """Go on with another integrator."""
        from pliant.kernels import _jit
        from pliant.kernels.integrators import tableaus

        handle, memory = self.handle, self.memory
        say_if_compiling(scheme, float(memory.loop[0].t))
        addresses = {"step": _jit.address(scheme.load()), "interpolant": _jit.address(scheme.load("interpolate"))}
        unknowns = find_unknowns(handle.system, len(handle.packed.state_scales))
        self._pin(with_method(memory, tableaus.TABLEAUS[scheme.name], unknowns, **addresses))
        self.integrators.append((float(memory.loop[0].t), scheme))

    def review(self) -> None:
        """What "auto" does when the equations seem stiff, or when it is time to look at the cost."""
        assert self.choice is not None
        other = self.choice.review(self.memory)
        if other is not None:
            self.change_integrator(other)

    def gives_up(self, status: Status) -> bool:
        """Whether this failure is one of the run, not only of the integrator that "auto" tried."""
        if self.choice is None or not self.choice.may_go_back(status):
            return True
        self.change_integrator(self.choice.go_back(self.memory))
        return False


@functools.cache
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "pliant-run")


def _has_freedom(handle: Prepared) -> bool:
    """Whether some motion follows from forces: it is not all prescribed, or a consequence of what is."""
    is_closed = handle.model.loops and handle.closure.keeps_closed
    dependent = int(handle.work.run[0].n_dependent) if is_closed else 0
    return int(np.sum(handle.system.dofs.motion < 0)) > dependent


def _rounding(handle: Prepared) -> float:
    """Of the speeds that conditions tell, where they tell them well."""
    A, system = handle.work.conditions, handle.system
    sizes = np.linalg.norm(A * system.dofs.reach / system.closings.scale[:, None], axis=1)
    return ROUNDED / float(np.min(sizes[sizes > 0.0], initial=1.0))


def _new_memory(handle: Prepared, state: tuple[Array, Array], options: dict[str, Any], wants_rows: bool) -> Memory:
    """The integrator's memory at the start."""
    from pliant.kernels import _jit, dynamics, events
    from pliant.kernels.contact import stick_or_slip
    from pliant.kernels.integrators import tableaus

    scheme = options["integrator"].first
    model, packed, system, work = handle.model, handle.packed, handle.system, handle.work
    run = work.run[0]
    run.derivative = _jit.address(dynamics.derivative)
    run.events, run.switch = _jit.address(events.event_functions), _jit.address(events.switch)
    run.settle_friction = _jit.address(stick_or_slip.settle_friction) if len(work.stick) else 0
    is_fixed = options["step"] is not None
    run.projection = MOST_PROJECTED if is_fixed else min(MOST_PROJECTED, PROJECTED * options["rtol"])
    run.projection_floor = PROJECTED * (1e-6 if is_fixed else options["atol"])
    parameters = scheme.coefficients
    # beside dead points: what a step leaves open must not turn the corner, and rounding not count as speed
    run.noise = _rounding(handle) / (1e-8 if is_fixed else options["rtol"])
    run.least_softness = SOFTNESS[0] if is_fixed else np.clip(0.1 * max(options["rtol"], run.noise), *SOFTNESS)
    run.step_softness = STEP_SOFTENED if parameters is not None else 0.0
    run.projection_softness = min(max(run.least_softness, run.noise), MOST_SOFTNESS)
    n_z = int(system.world[0].n_z)
    memory = new_memory(
        np.concatenate([*state, np.zeros(n_z)]),
        0.0,
        options["duration"],
        tableaus.TABLEAUS[scheme.name],
        step=_jit.address(scheme.load()),
        interpolant=_jit.address(scheme.load("interpolate")),
        rtol=options["rtol"],
        atol=tolerances(model, n_z, options["atol"], packed.state_scales, has_freedom=_has_freedom(handle)),
        h=options["step"] or 0.0,
        is_fixed=options["step"] is not None,
        max_step=options["max_step"] or np.inf,
        boundaries=packed.breakpoints,
        samples=[0.0] if model.controllers else [],  # only the next: drive fills in the one after it
        quaternions=[four.start for four in model.quaternions],
        n_events=len(system.events),
        n_inputs=packed.n_inputs,
        n_phases=len(work.phase),
        unknowns=find_unknowns(system, len(packed.state_scales)),
        wants_rows=wants_rows,
        wants_dense=options["dense"],
        max_steps=options["max_steps"],
        budget=max(10, FIRST_WORK // max(1, len(system.dofs))),
        watches=STIFF_STEPS if _may_change(options) else 0,
    )
    if parameters is not None:
        from pliant.kernels import shift

        run.shift = _jit.address(shift.shift)
        newton = memory.newton[0]
        newton.alpha_m, newton.alpha_f, newton.beta, newton.gamma = parameters
    return memory


def drive(run: Run, progress: Progress | None, status: Status = Status.PAUSE) -> tuple[Recorded, Status, str]:
    """Enter the resumable loop until its end; Ctrl-C, failing controllers and full memory end it with what was reached.

    status: what an earlier entry said."""
    handle = run.handle
    loop, sampler = run.memory.loop[0], Sampler(handle)
    samples = run.memory.samples  # the next one, if there are controllers
    samples[:] = sampler.next_instant()
    phase = [run.memory.loop.t.copy()], [handle.work.phase[None, :].copy()]
    recorded, told = Recorded(run.allowed_memory, bool(loop.wants_dense), *phase), time.perf_counter()
    reserve = address_reserve()
    try:
        while True:
            if status == Status.REVIEW:
                run.review()
            entered = time.perf_counter()
            # from one sample to the next it is faster without another thread
            is_short = status == Status.SAMPLE and loop.budget >= SHORT_STEPS
            wanted, loop.budget = loop.budget, min(loop.budget, SHORT_STEPS) if is_short else loop.budget
            status = Status(run.enter() if is_short else run.enter_interruptibly())
            loop.budget = wanted
            memory = run.memory
            if status == Status.SAMPLE:
                sampler.instant(float(loop.t), memory.y)
                samples[0], loop.sample = sampler.next_instant(), 0
            elif status in (Status.DONE, Status.STOPPED):
                recorded.finish(memory)
                return recorded, status, ""
            else:
                recorded.take(memory)
            if status == Status.PAUSE and not is_short:
                spent = time.perf_counter() - entered
                loop.budget = int(min(1e6, max(1, loop.budget * min(4.0, PAUSE_SECONDS / max(spent, 1e-9)))))
            if status in GOES_ON:
                # samples and full buffers may keep it from ever pausing
                if progress is not None and (status == Status.PAUSE or time.perf_counter() - told > PAUSE_SECONDS):
                    told = time.perf_counter()
                    progress(float(loop.t), float(loop.t_end))
            elif status != Status.REVIEW and run.gives_up(status):
                return recorded, status, ""
    except KeyboardInterrupt:
        status, words = Status.INTERRUPTED, ""
    except CallbackError as error:
        status, words = Status.CONTROLLER_FAILED, str(error)
    except OutOfMemoryError as error:
        status, words = Status.OUT_OF_MEMORY, str(error)
    except MemoryError:
        status, words = Status.OUT_OF_MEMORY, "the machine has no memory left"
    del reserve
    with suppress(OutOfMemoryError):  # beside a file on a full disk it finds no place
        recorded.finish(run.memory)
    return recorded, status, recorded.why_full(words) if status == Status.OUT_OF_MEMORY else words
