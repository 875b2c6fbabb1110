"""A run on its way: the integrator's memory, the compiled loop entered again and again, what it records."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.alpha_family import alpha_parameters
from pliant.auto_choice import STIFF_STEPS, AutoChoice, say_if_compiling
from pliant.controllers import ControllerError, Sampler
from pliant.dynamics import Prepared
from pliant.errors import SimulationError
from pliant.machine import free_addresses, free_memory
from pliant.methods import find_method
from pliant.options import ROW_COPIES, allowed_memory, in_words, tolerances
from pliant.piles import Pile
from pliant.system.memory import Memory, new_memory, with_method
from pliant.system.newton import find_unknowns
from pliant.system.phases import Phases
from pliant.system.status import Status

Array = NDArray[np.float64]
FIRST_WORK = 20000  # steps times velocities before the first look
# what putting speeds back on the loops may change, which is about the error of a step
PROJECTED = 1e3  # tolerances
MOST_PROJECTED = 0.1  # of the speeds
PAUSE_SECONDS = 0.1  # between two looks at Ctrl-C and the progress bar
LOOK_BYTES = 3e7  # recorded between two looks at the free memory
EVENT_BYTES = 150  # of one in the log
MOST_THINNED = 1024  # rows of which one is left
LESS = "give more (memory), a looser rtol, longer steps or a shorter duration"
Progress = Callable[[float, float], None]


def as_bytes(table: Any) -> NDArray[np.uint8]:
    """The memory of a table of records: copied in a fraction of a microsecond, records one by one take twenty."""
    return table.view(np.ndarray).view(np.uint8)  # type: ignore[no-any-return]


def _may_change(options: dict[str, Any]) -> bool:
    """Whether the integrator may become an implicit one on the way; minimal coordinates go with explicit ones only."""
    return bool(options["integrator"] == "auto" and options["closure"] != "reduced")


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
        name = find_method("integrator", options["integrator"]).name
        self.choice = AutoChoice(name) if _may_change(options) else None
        self.integrators = [(0.0, name)]
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

    def begin_again(self) -> None:
        """As it was before the first step, but for y and the row of the loop."""
        if self.memory is not self._first:
            self._pin(self._first)
        self._newton[:] = self._newton0
        if self.choice is not None:
            self.choice = AutoChoice(self.integrators[0][1])
        del self.integrators[1:]

    def change_integrator(self, name: str) -> None:
        """Go on with another integrator."""
        from pliant.kernels import _jit
        from pliant.kernels.integrators import tableaus

        scheme, handle, memory = find_method("integrator", name), self.handle, self.memory
        say_if_compiling(name, float(memory.loop[0].t))
        addresses = {"step": _jit.address(scheme.load()), "interpolant": _jit.address(scheme.load("interpolate"))}
        unknowns = find_unknowns(handle.system, len(handle.packed.state_scales))
        self._pin(with_method(memory, tableaus.TABLEAUS[name], unknowns, **addresses))
        self.integrators.append((float(memory.loop[0].t), name))

    def review(self) -> None:
        """What "auto" does when the equations seem stiff, or when it is time to look at the cost."""
        assert self.choice is not None
        name = self.choice.review(self.memory)
        if name:
            self.change_integrator(name)

    def gives_up(self, status: Status) -> bool:
        """Whether this failure is one of the run, not only of the integrator that "auto" tried."""
        if self.choice is None or not self.choice.may_go_back(status):
            return True
        self.change_integrator(self.choice.go_back(self.memory))
        return False


def _has_freedom(handle: Prepared) -> bool:
    """Whether some motion follows from forces: it is not all prescribed, or a consequence of what is."""
    is_closed = handle.model.loops and handle.closure.method.name != "springs"
    dependent = int(handle.work.run[0].n_dependent) if is_closed else 0
    return int(np.sum(handle.system.dofs.motion < 0)) > dependent


def _new_memory(handle: Prepared, state: tuple[Array, Array], options: dict[str, Any], wants_rows: bool) -> Memory:
    """The integrator's memory at the start."""
    from pliant.kernels import _jit, dynamics, events
    from pliant.kernels.integrators import tableaus

    scheme = find_method("integrator", options["integrator"])
    model, packed, system, work = handle.model, handle.packed, handle.system, handle.work
    run = work.run[0]
    run.derivative = _jit.address(dynamics.derivative)
    run.events, run.switch = _jit.address(events.event_functions), _jit.address(events.switch)
    is_fixed = options["step"] is not None
    run.projection = MOST_PROJECTED if is_fixed else min(MOST_PROJECTED, PROJECTED * options["rtol"])
    run.projection_floor = PROJECTED * (1e-6 if is_fixed else options["atol"])
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
    parameters = alpha_parameters(options)
    if parameters is not None:
        from pliant.kernels import shift

        run.shift = _jit.address(shift.shift)
        newton = memory.newton[0]
        newton.alpha_m, newton.alpha_f, newton.beta, newton.gamma = parameters
    return memory


class OutOfMemoryError(Exception):
    """What is recorded fills the memory allowed, or there is."""


@dataclass
class Recorded:
    """Buffers copied away from the loop: what fits into the memory allowed; dense output beyond goes to a file."""

    memory: float | str = np.inf  # allowed, as in options
    rows: Pile = field(default_factory=Pile)
    starts: Pile = field(default_factory=Pile)
    terms: Pile = field(default_factory=Pile)
    log: list[tuple[int, int, float]] = field(default_factory=list)
    phase_times: list[Array] = field(default_factory=list)
    phases: list[Any] = field(default_factory=list)
    _others: int = 0  # bytes of phases and log
    _since_look: int = 0  # bytes taken since the free memory was looked at
    _free: float = np.inf  # bytes, then
    _addresses: float = np.inf
    has_dense: bool = True
    nth: int = 1  # row that is kept
    lost: list[str] = field(default_factory=list)

    def take(self, memory: Memory) -> None:
        """Copy what the loop recorded and hand the buffers back empty. MemoryError, OutOfMemoryError: as if not asked,
        and the end of the run."""
        self._make_room(memory)
        try:
            self._put(memory, [part.copy() for part in _parts(memory)])
        except OSError as error:
            raise OutOfMemoryError(self._no_disk(error)) from None

    def finish(self, memory: Memory) -> None:
        """Take what the loop recorded last, after which it is not entered again: nothing is copied."""
        with suppress(OSError):  # beside a file on a full disk it finds no place
            self._put(memory, _parts(memory))

    def _put(self, memory: Memory, parts: list[Any]) -> None:
        rows, starts, terms, phase_times, phases = parts
        loop = memory.loop[0]
        log = [(int(row.event), int(row.direction), float(row.t)) for row in memory.log[: loop.n_log]]
        self.terms.add(terms)  # the one that may fail
        self.rows.add(rows)
        self.starts.add(starts)
        self.phase_times.append(phase_times)
        self.phases.append(phases)
        self.log += log
        self._others += phase_times.nbytes + phases.nbytes + EVENT_BYTES * len(log)
        loop.n_rows = loop.n_pieces = loop.n_log = loop.n_phases = 0

    def _make_room(self, memory: Memory) -> None:
        """For what the loop recorded: where it does not fit, dense output goes to a file, or the run must end."""
        rows, _, terms, *_ = _parts(memory)
        kept = self.rows.in_memory + rows.nbytes + self.starts.in_memory + self._others
        dense = self.terms.in_memory + (0 if self.terms.on_disk else terms.nbytes)
        self._since_look += rows.nbytes + terms.nbytes
        if self._since_look > LOOK_BYTES:
            self._look()
        elif self.memory == "auto" and self._free == np.inf:
            return  # a run as short as most
        if ROW_COPIES * kept + dense <= self._allowed and self._can_end(kept, terms.nbytes):
            return
        try:
            self.terms.to_disk()
        except OSError as error:
            raise OutOfMemoryError(self._no_disk(error)) from None
        self._look()
        if ROW_COPIES * kept > self._allowed:
            allowed = in_words(self._allowed)
            raise OutOfMemoryError(f"the rows of the result fill the {allowed} of memory allowed; {LESS}")
        if not self._can_end(kept, terms.nbytes):
            raise OutOfMemoryError(f"the rows of the result fill the memory of the machine; {LESS}")

    def _look(self) -> None:
        self._since_look, self._free, self._addresses = 0, free_memory(), free_addresses()

    def _can_end(self, kept: int, more: int) -> bool:
        """Whether the machine has the memory to make a result of so much, at the last look."""
        dense = self.terms.in_memory + self.terms.on_disk + more
        return (ROW_COPIES - 1) * kept <= self._free and ROW_COPIES * kept + dense <= self._addresses

    def given_up(self) -> str:
        """For a result that does not fit into what is left: drop the dense output, then every second row; the reason
        that says so."""
        end = self.end
        if self.has_dense:
            self.has_dense, self.terms, self.lost = False, Pile(), ["the dense output"]
        elif self.nth < MOST_THINNED:
            self.nth *= 2
            self.rows.thin()
        else:
            raise SimulationError(f"at t = {end:.9g} s: the machine has no memory left to give the run back; {LESS}")
        lost = [*self.lost, f"{self.nth - 1} of {self.nth} rows"] if self.nth > 1 else self.lost
        return f"at t = {end:.9g} s: the machine has no memory left, and without {' and '.join(lost)}; {LESS}"

    @cached_property
    def _allowed(self) -> float:
        """Bytes."""
        return allowed_memory(self.memory)

    def _no_disk(self, error: OSError) -> str:
        return f"the dense output fits neither into the memory allowed nor on the disk ({error.strerror}); {LESS}"

    @property
    def end(self) -> float:
        """[s] of the last row."""
        return self.rows.last_row[0] if self.rows.last_row is not None else 0.0

    def phase_history(self) -> Phases:
        return Phases(np.concatenate(self.phase_times), np.concatenate(self.phases))


def _parts(memory: Memory) -> list[Any]:
    """What the loop recorded, in its own buffers: rows, starts and terms of pieces, times of phases, phases."""
    loop = memory.loop[0]
    return [
        memory.rows[: loop.n_rows],
        memory.piece_times[: loop.n_pieces],
        memory.piece_terms[: loop.n_pieces],
        memory.phase_times[: loop.n_phases],
        memory.phases[: loop.n_phases],
    ]


def drive(run: Run, progress: Progress | None, status: Status = Status.PAUSE) -> tuple[Recorded, Status, str]:
    """Enter the resumable loop until its end; Ctrl-C and failing controllers end it with what was reached.

    status: what an earlier entry said."""
    handle = run.handle
    loop, sampler = run.memory.loop[0], Sampler(handle)
    samples = run.memory.samples
    samples[:] = sampler.next_instant()
    shown = 0.0
    recorded = Recorded(
        run.allowed_memory, phase_times=[run.memory.loop.t.copy()], phases=[handle.work.phase[None, :].copy()]
    )
    recorded.has_dense = bool(loop.wants_dense)
    try:
        while True:
            if status == Status.REVIEW:
                run.review()
            entered = time.perf_counter()
            status = Status(run.enter())
            memory = run.memory
            if status == Status.SAMPLE:
                if progress is not None and entered - shown > PAUSE_SECONDS:
                    shown = entered
                    progress(float(loop.t), float(loop.t_end))
                sampler.instant(float(loop.t), memory.y)
                samples[0], loop.sample = sampler.next_instant(), 0
                continue
            recorded.take(memory)
            if status == Status.PAUSE:
                spent = time.perf_counter() - entered
                loop.budget = int(min(1e6, max(10, loop.budget * min(4.0, PAUSE_SECONDS / max(spent, 1e-9)))))
                if progress is not None:
                    progress(float(loop.t), float(loop.t_end))
            elif status not in (Status.BUFFER_FULL, Status.REVIEW) and (
                status in (Status.DONE, Status.STOPPED) or run.gives_up(status)
            ):
                return recorded, status, ""
    except KeyboardInterrupt:
        recorded.finish(run.memory)
        return recorded, Status.INTERRUPTED, ""
    except ControllerError as error:
        recorded.finish(run.memory)
        return recorded, Status.CONTROLLER_FAILED, str(error)
    except (MemoryError, OutOfMemoryError) as error:
        recorded.finish(run.memory)
        words = str(error) if isinstance(error, OutOfMemoryError) else f"the machine has no memory left; {LESS}"
        return recorded, Status.OUT_OF_MEMORY, f"at t = {recorded.end:.9g} s: {words}"
