"""A run on its way: the integrator's memory, the compiled integration entered again and again, what it records."""

from __future__ import annotations

import functools
import importlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.engine.callbacks import CallbackError, Progress
from pliant.engine.interruptions import remembered_interruptions
from pliant.engine.prepared import Prepared
from pliant.machine import address_reserve
from pliant.mechanisms.assembly import bends_loops
from pliant.methods.formulations import Formulation
from pliant.methods.integrators import Integrator
from pliant.model.scales import tolerances
from pliant.results.checkpoint import SampledState
from pliant.simulation.auto_integrator import (
    EXPLICIT,
    IMPLICIT,
    SEMI_IMPLICIT,
    TIGHTER,
    AutoChoice,
    say_if_compiling,
)
from pliant.simulation.controllers import Sampler
from pliant.simulation.fast_motion import fast_motion
from pliant.simulation.kept import Kept, as_bytes, stepping_of
from pliant.simulation.options import takes_stages
from pliant.simulation.recorder import OutOfMemoryError, Recorded
from pliant.simulation.trial_steps import TRIED, Measured, guessed, measure_steps, try_steps
from pliant.system.memory import Memory, Scheme, Sizes, StepOptions, new_memory, put_method, with_method
from pliant.system.newton import Unknowns, find_unknowns, put_rule
from pliant.system.status import Status

Array = NDArray[np.float64]
FIRST_WORK = 20000  # steps times velocities before the first pause
CAPACITY = 1024  # rows and pieces held before Python takes them away
SHORT_STEPS = 50  # between two samples or reviews, for which no thread is started
PAUSE_SECONDS = 0.1  # between two looks at Ctrl-C and the progress bar
# what projecting velocities onto the loops may change, which is about the error of a step
PROJECTION_TOLERANCES = 1e3
MAX_PROJECTION = 0.1  # of the velocities
# e^2 of kernels/closures/dead_points.py
MIN_REGULARISATION, MAX_REGULARISATION = 1e-8, 1e-6
MAX_PROJECTION_REGULARISATION = 1e-2
STEP_REGULARISATION = 4.0
BENT_LEAST_PIVOT = 1e-5  # of loops with beams: a third of a degree from the dead point
CONSTRAINT_ROUNDING = 2e-15  # of the value of a constraint, over its scale, per constraint that is solved for
MAX_ALLOWANCE, MAX_ALLOWED_ERROR = 1e5, 2e-7  # of steps across a dead point, in tolerances and of the velocities
FIXED_RTOL, FIXED_ATOL = 1e-8, 1e-6  # of steps without error control
GOES_ON = (Status.SAMPLE, Status.PAUSE, Status.BUFFER_FULL)


class Counts(NamedTuple):
    """What a run has taken so far."""

    steps: int
    evaluations: int
    jacobians: int
    factorisations: int


class _Used(NamedTuple):
    """An integrator that was used before, as it began."""

    memory: Memory
    pinned: Any
    scheme: Scheme
    # bytes of memory.newton and of work.calls, and as they were
    newton: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    calls: tuple[NDArray[np.uint8], NDArray[np.uint8]]


def _choice(handle: Prepared, options: dict[str, Any], n_unknowns: int) -> AutoChoice | None:
    """Of "auto", as far as the model and its other methods go with it."""
    closure = options["closure"]
    if not options["integrator"].may_change:
        return None
    stages, implicit = (closure is None or closure.goes_with(each) for each in (SEMI_IMPLICIT, IMPLICIT))
    is_stiff = _has_stiff_forces(handle.system)
    stages = stages and takes_stages(handle.model, handle.method) and is_stiff
    return AutoChoice(stages, implicit, is_stiff, bool(handle.model.contacts), n_unknowns, float(options["rtol"]))


def _has_stiff_forces(system: Any) -> bool:
    """Whether semi-implicit integrators find something to be implicit about."""
    is_sprung = np.any(system.dofs.stiffness != 0.0) or np.any(system.dofs.damping != 0.0)
    tables = system.limits, system.transmissions, system.flexes, system.springs, system.contacts
    return bool(is_sprung or any(len(table) for table in tables))


class Run:
    """A run on its way: the handle, the integrator's memory, and the compiled integration to enter again and again."""

    def __init__(
        self,
        handle: Prepared,
        state: tuple[Array, Array],
        options: dict[str, Any],
        wants_rows: bool,
        t: float = 0.0,
    ) -> None:
        from pliant.kernels import _jit
        from pliant.kernels.integrators import advance

        self.handle = handle
        self._advance = _jit.entry(advance.advance)
        self._pin(_new_memory(handle, state, options, wants_rows, t))
        first = options["integrator"].first
        self.integrators: list[tuple[float, Integrator]] = [(t, first)]
        self._used: dict[Integrator, _Used] = {}
        self._kept: dict[tuple[str, Integrator], Kept] = {}
        self._remember(first, _scheme(first, handle.method))
        self._tolerances = float(options["rtol"]), self.memory.atol / _tighter(handle, first, options["rtol"])
        self._unknowns = _unknowns(handle, first)
        self.choice = _choice(handle, options, len(self._unknowns.solved))
        self._remember_first()
        self.allowed_memory = options["memory"]
        self.sampler: Sampler | None = None  # since it was entered
        self.begun: tuple[SampledState, ...] = ()  # Python controllers that another run had begun
        self.counted = Counts(0, 0, 0, 0)  # by a run from which this one goes on

    def choose_first(self) -> None:
        """The first method of "auto", by the motion at the start, whose phase is known."""
        if self.choice is not None:
            self.choice.begin(self.memory, lambda: fast_motion(self))
            self._begin_with(self.choice.method)
            self._remember_first()

    def _remember_first(self) -> None:
        """What begin_again goes back to."""
        self._first, self._atol0 = self.integrators[0][1], self.memory.atol.copy()
        self._choice0 = self.choice and self.choice.copy()

    def _pin(self, memory: Memory) -> None:
        from pliant.kernels.tables import Pinned

        self._put(memory, Pinned(memory))

    def _put(self, memory: Memory, pinned: Any) -> None:
        self.memory, self._pinned, self.memory_ref = memory, pinned, pinned.ref
        self._refs = (*self.handle.refs, self.memory_ref)

    def enter(self) -> int:
        """Go on; returns a Status."""
        return int(self._advance(*self._refs))

    def enter_interruptibly(self) -> int:
        """Go on in another thread, so that Ctrl-C is noticed at once; it then comes back from wherever it is."""
        if threading.current_thread() is not threading.main_thread():
            return self.enter()
        job = _worker().submit(self.enter)
        try:
            return job.result()
        except KeyboardInterrupt:
            self.memory.stepping[0].stop = 1
            job.exception()
            raise

    def begin_again(self) -> None:
        """As it was before the first step, but for y and the row of memory.stepping."""
        self._use(self._first)
        if self._choice0 is not None:
            self.choice, self.memory.atol[:] = self._choice0.copy(), self._atol0
        del self.integrators[1:]

    def _remember(self, integrator: Integrator, scheme: Scheme) -> None:
        """The integrator that has just been put in place, and has not begun."""
        newton, calls = as_bytes(self.memory.newton), as_bytes(self.handle.work.calls)
        both = (newton, newton.copy()), (calls, calls.copy())
        self._used[integrator] = _Used(self.memory, self._pinned, scheme, *both)

    def _use(self, integrator: Integrator) -> _Used:
        """An integrator that was used before, as it began."""
        used = self._used[integrator]
        self._put(used.memory, used.pinned)
        for table, kept in (used.newton, used.calls):
            table[...] = kept
        return used

    def change_integrator(self, integrator: Integrator) -> None:
        """Go on with another integrator."""
        handle, stepping = self.handle, self.memory.stepping[0]
        rtol, atol = self._tolerances
        tighter = min(_tighter(handle, integrator, rtol), rtol ** TIGHTER[integrator])
        stepping.rtol, self.memory.atol[:] = tighter * rtol, tighter * atol
        if integrator in self._used:
            put_method(stepping, self._use(integrator).scheme)
        else:
            say_if_compiling(integrator, float(stepping.t))
            scheme = _scheme(integrator, handle.method)
            calls, kept = next(iter(self._used.values())).calls
            calls[...] = kept
            if integrator.kind == "semi-implicit":
                _install_stages(handle)
            self._pin(with_method(self.memory, scheme, self._unknowns))
            self._remember(integrator, scheme)
        if integrator == EXPLICIT:  # steps of others may be far too long for it
            stepping.h = 0.0
        self.integrators.append((float(stepping.t), integrator))

    def goes_on_with(self, name: str, before: dict[str, Any]) -> bool:
        """Begin with the integrator that "auto" had chosen in a run before, and what it knew; whether it may here."""
        for integrator in (EXPLICIT, *self.choice.candidates) if self.choice is not None else ():
            if integrator.name == name:
                assert self.choice is not None
                self._begin_with(integrator)
                self.choice.go_on(self.memory, integrator, before)
                return True
        return False

    def _begin_with(self, integrator: Integrator) -> None:
        """From the start, which is now."""
        if integrator != self.integrators[-1][1]:
            self.change_integrator(integrator)
            del self.integrators[0]

    def counts(self) -> Counts:
        """So far, those of the run before included."""
        stepping, newton = self.memory.stepping[0], self.memory.newton[0]
        counts = stepping.n_steps, stepping.n_evaluations, newton.n_jacobians, newton.n_factors
        return Counts(*(int(each) for each in counts))

    def go_on_counting(self, counted: Counts) -> None:
        """From where a run before had come to."""
        stepping, self.counted = self.memory.stepping[0], counted
        stepping.n_steps, stepping.n_evaluations = counted.steps, counted.evaluations
        stepping.max_steps, stepping.stall_steps = stepping.max_steps + counted.steps, counted.steps
        stepping.stall_t = stepping.t

    def review(self) -> Status:
        """What "auto" does when dop853 follows fast motion, and now and then: it tries other integrators. Returns where
        that led."""
        assert self.choice is not None
        if not self.choice.passes(self.memory):
            self.change_integrator(EXPLICIT)
            return Status.PAUSE
        candidates, rate = self.choice.review(self.memory, self.handle.work.phase.tobytes())
        if not candidates:
            return Status.PAUSE
        start = self._keep("start")
        if rate is not None:
            measured = guessed(float(stepping_of(self.memory)["t"]), rate)
            return self._try(candidates, measured, start, start, Status.PAUSE, is_first=True)
        before = stepping_of(self.memory).copy()
        status, measured = measure_steps(self, self.choice.method)
        self.choice.watch(self.memory)
        if stepping_of(self.memory)["n_events"] > before["n_events"]:  # steps to and from it say nothing of others
            self.choice.postpone(self.memory, candidates)
            return status
        if status not in TRIED or not measured.t[-1] > measured.t[0]:
            return status
        end = self._keep("end")
        end.keep_recorded(int(before["n_rows"]), int(before["n_pieces"]))
        return self._try(candidates, measured, start, end, status, is_first=False)

    def _try(
        self,
        candidates: tuple[Integrator, ...],
        measured: Measured,
        start: Kept,
        end: Kept,
        status: Status,
        *,
        is_first: bool,
    ) -> Status:
        """Try them, and go on with the one that costs least, if it is worth while. start, end: of the method in use,
        whose cost was measured, or is guessed (is_first); status: where it had come to."""
        assert self.choice is not None
        memory, pinned, n = self.memory, self._pinned, len(self.integrators)
        good: list[tuple[float, Integrator]] = []
        for candidate in candidates:
            is_kept = False
            try:
                start.restore()
                reached, cost = try_steps(self, candidate, measured)
                if cost < self.choice.gain(candidate):
                    good.append((cost, candidate))
                    is_ahead = is_first or stepping_of(self.memory)["t"] >= measured.t[-1]
                    is_kept = is_ahead and candidate == candidates[-1] and cost == min(each for each, _ in good)
            finally:  # Ctrl-C, too
                if not is_kept:
                    end.restore()
                    self._put(memory, pinned)
                    del self.integrators[n:]
        if not good:
            return status
        cost, best = min(good, key=lambda each: each[0])
        if not is_kept:
            self.change_integrator(best)
        self.choice.takes(self.memory, best, cost, is_first)
        return reached if is_kept else status

    def _keep(self, which: str) -> Kept:
        """A copy of all that steps with the integrator in use change, in the place of the one before."""
        key = which, self.integrators[-1][1]
        if key in self._kept:
            self._kept[key].keep()
        else:
            self._kept[key] = Kept(self.handle.work, self.memory)
        return self._kept[key]

    def gives_up(self, status: Status) -> bool:
        """Whether this failure is one of the run, not only of the integrator that "auto" has taken."""
        if self.choice is None or not self.choice.may_go_back(status):
            return True
        failed = self.choice.method.name
        self.change_integrator(EXPLICIT)
        self.choice.take(self.memory, EXPLICIT, f"{failed} failed")
        return False


@functools.cache
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "pliant-run")


def _has_freedom(handle: Prepared) -> bool:
    """Whether some motion follows from forces: it is not all prescribed, or a consequence of what is."""
    is_closed = handle.model.loops and handle.closure.keeps_closed
    dependent = int(handle.work.closure[0].n_active) if is_closed else 0
    return int(np.sum(handle.system.dofs.motion < 0)) > dependent


def _unknowns(handle: Prepared, integrator: Integrator) -> Unknowns:
    """Unknowns of an implicit integrator; those with fixed steps only take work terms as they come."""
    controls_works = integrator.step_rule is None and not _has_freedom(handle)
    return find_unknowns(handle.system, len(handle.packed.state_scales), controls_works=controls_works)


def _rounding(handle: Prepared) -> float:
    """Of the velocities that constraints determine, where they determine them well."""
    A, system = handle.work.constraint_jacobian, handle.system
    sizes = np.linalg.norm(A * system.dofs.velocity_scale / system.constraints.scale[:, None], axis=1)
    rounding = CONSTRAINT_ROUNDING * max(1, int(handle.work.closure[0].n_active))
    return rounding / float(np.min(sizes[sizes > 0.0], initial=1.0))


def _scheme(integrator: Integrator, formulation: Formulation) -> Scheme:
    """An integrator as Memory takes it; its steps may be those of the formulation."""
    from pliant.kernels import _jit
    from pliant.kernels.integrators import tableaus

    tableau = tableaus.with_order(integrator.name, integrator.highest_order)
    module = formulation.stepper(integrator)
    if module:
        tableau = tableau._replace(n_factors=0)  # no Newton's method with a Jacobian
    kernels = importlib.import_module(module or integrator.module)
    return Scheme(tableau, _jit.address(kernels.step), _jit.address(kernels.interpolate))


def _install_calls(handle: Prepared, integrator: Integrator) -> None:
    """Addresses of the kernels that a run needs besides those of every call."""
    from pliant.kernels import _jit, dynamics, events

    calls = handle.work.calls[0]
    calls.derivative = _jit.address(dynamics.derivative)
    calls.events, calls.switch = _jit.address(events.event_functions), _jit.address(events.switch)
    calls.decide_friction = 0
    if len(handle.work.stick):
        from pliant.kernels.contact import stick_or_slip

        calls.decide_friction = _jit.address(stick_or_slip.decide_friction)
    if len(handle.system.controllers):
        from pliant.kernels import control

        calls.control = _jit.address(control.control)
    if not handle.model.loops or handle.closure.keeps_closed:
        from pliant.kernels import energy

        calls.energy = _jit.address(energy.measure)
    if integrator.step_rule is not None:
        from pliant.kernels import shift

        calls.shift = _jit.address(shift.shift)
    calls.stage = 0
    if integrator.kind == "semi-implicit":
        _install_stages(handle)
    calls.nearby = 0
    if integrator.uses_nearby and _allows_nearby(handle):
        from pliant.kernels import nearby

        calls.nearby, calls.respond = _jit.address(nearby.nearby), _jit.address(handle.method.load_response())


def _install_stages(handle: Prepared) -> None:
    """The stages of semi-implicit steps, and what solves them where forces between two bodies are stiff."""
    from pliant.kernels import _jit, semi_implicit
    from pliant.kernels.formulations import articulated_contacts

    calls, work = handle.work.calls[0], handle.work
    calls.stage = _jit.address(semi_implicit.stage)
    calls.contact_masses = _jit.address(articulated_contacts.contact_masses)
    if len(work.compliant_jacobian) == 0:
        return
    from pliant.kernels import compliance

    ours = _jit.address(compliance.solve)
    if calls.open_formulation == ours:
        return
    calls.recursion, calls.recursion_response = calls.open_formulation, _jit.address(handle.method.load_response())
    if calls.formulation == calls.open_formulation:
        if calls.solve == calls.formulation:  # nothing can stick
            calls.solve = ours
        calls.formulation = ours
    calls.open_formulation, calls.respond = ours, _jit.address(compliance.respond)


def _allows_nearby(handle: Prepared) -> bool:
    """Whether kernels/nearby.py takes a model, and has something to say of it: there are springs, dampers or beams."""
    model, system = handle.model, handle.system
    if model.loops or model.is_stiffened or system.world[0].has_prescribed:
        return False
    if not handle.method.leaves_factors(system.world[0]):
        return False
    is_sprung = np.any(system.dofs.stiffness != 0.0) or np.any(system.dofs.damping != 0.0)
    return bool(is_sprung or len(system.limits) or len(system.transmissions) or len(system.flexes))


def _install_projection(handle: Prepared, integrator: Integrator, options: dict[str, Any]) -> None:
    """What projections onto the loops may change; near dead points: what a step leaves open must not go round the
    corner, and rounding not count as velocity."""
    closure, dead = handle.work.closure[0], handle.work.dead_point[0]
    is_fixed = options["step"] is not None
    closure.max_projection = (
        MAX_PROJECTION if is_fixed else min(MAX_PROJECTION, PROJECTION_TOLERANCES * options["rtol"])
    )
    closure.projection_floor = PROJECTION_TOLERANCES * (FIXED_ATOL if is_fixed else options["atol"])
    rtol = FIXED_RTOL if is_fixed else options["rtol"]
    dead.rounding = _rounding(handle) / rtol
    dead.max_allowance = min(MAX_ALLOWANCE, MAX_ALLOWED_ERROR / rtol)
    dead.min_regularisation = MIN_REGULARISATION
    if not is_fixed:
        wanted = 0.1 * max(options["rtol"], dead.rounding)
        dead.min_regularisation = np.clip(wanted, MIN_REGULARISATION, MAX_REGULARISATION)
    dead.step_regularisation = STEP_REGULARISATION if integrator.step_rule is not None else 0.0
    # where a link bends, not even its last instant says how a motion goes on beyond a dead point
    dead.least_pivot = BENT_LEAST_PIVOT if bends_loops(handle) else 0.0
    largest = max(dead.min_regularisation, dead.rounding)
    dead.projection_regularisation = min(largest, MAX_PROJECTION_REGULARISATION)


def _tighter(handle: Prepared, integrator: Integrator, rtol: float) -> float:
    """By which tolerances are multiplied, so that long steps do not pass over contacts."""
    return min(1.0, integrator.max_contact_rtol / rtol) if handle.model.contacts else 1.0


def _new_memory(
    handle: Prepared, state: tuple[Array, Array], options: dict[str, Any], wants_rows: bool, t: float
) -> Memory:
    """The integrator's memory at the start."""
    integrator = options["integrator"].first
    model, packed, system = handle.model, handle.packed, handle.system
    _install_calls(handle, integrator)
    _install_projection(handle, integrator, options)
    n_z = int(system.world[0].n_z)
    y = np.concatenate([*state, np.zeros(n_z)])
    tighter = _tighter(handle, integrator, options["rtol"])
    memory = new_memory(
        y,
        (t, t + options["duration"]),
        _scheme(integrator, handle.method),
        Sizes(
            n_y=len(y),
            n_events=len(system.events),
            n_inputs=packed.n_inputs,
            n_phases=len(handle.work.phase),
            n_rows=CAPACITY if wants_rows else 0,
            n_pieces=CAPACITY if options["dense"] else 0,
        ),
        StepOptions(
            rtol=options["rtol"] * tighter,
            atol=tighter
            * tolerances(model, n_z, options["atol"], packed.state_scales, has_freedom=_has_freedom(handle)),
            h=options["step"] or 0.0,
            is_fixed=options["step"] is not None,
            max_step=options["max_step"] or np.inf,
            max_steps=options["max_steps"],
            budget=max(10, FIRST_WORK // max(1, len(system.dofs))),
        ),
        boundaries=packed.breakpoints,
        samples=[t] if model.calls_python else [],  # only the next: advance_to_end fills in the one after it
        has_laws=len(system.controllers) > 0,
        quaternions=[four.start for four in model.quaternions],
        unknowns=_unknowns(handle, integrator),
    )
    if integrator.step_rule is not None:
        put_rule(memory.newton[0], integrator.step_rule)
        memory.newton[0].max_linearisations = handle.method.max_linearisations
    if options["step"] is not None:
        slow = np.where(np.isfinite(memory.atol), memory.atol, 0.0)[int(system.world[0].n_q) :][: len(system.dofs)]
        memory.stepping[0].rest_energy = handle.energies(state[0][None, :], slow[None, :])["kinetic"][0]
    return memory


def advance_to_end(run: Run, progress: Progress | None, status: Status = Status.PAUSE) -> tuple[Recorded, Status, str]:
    """Enter the resumable integration until its end; Ctrl-C, failing controllers and full memory end it with what was
    reached.

    status: what an earlier entry said."""
    with remembered_interruptions() as ask_for_interruption:
        return _advance_to_end(run, progress, status, ask_for_interruption)


def _advance_to_end(
    run: Run, progress: Progress | None, status: Status, ask_for_interruption: Callable[[], None]
) -> tuple[Recorded, Status, str]:
    handle = run.handle
    stepping, sampler = run.memory.stepping[0], Sampler(handle, run.begun)
    run.sampler = sampler
    samples = run.memory.samples  # the next one, if there are Python controllers
    samples[:] = sampler.next_instant()
    phase = [run.memory.stepping.t.copy()], [handle.work.phase[None, :].copy()]
    recorded, reported = Recorded(run.allowed_memory, bool(stepping.wants_dense), *phase), time.perf_counter()
    reserve, is_review = address_reserve(), False
    try:
        while True:
            ask_for_interruption()
            entered = time.perf_counter()
            # from one sample to the next, and after a review, it is faster without another thread
            is_short = (status == Status.SAMPLE or is_review) and stepping.budget >= SHORT_STEPS
            is_review = status == Status.REVIEW
            wanted, stepping.budget = (
                stepping.budget,
                min(stepping.budget, SHORT_STEPS) if is_short else stepping.budget,
            )
            enter = run.enter if is_short else run.enter_interruptibly
            status = run.review() if is_review else Status(enter())
            stepping.budget = wanted
            memory = run.memory
            if status == Status.SAMPLE:
                sampler.instant(float(stepping.t), memory.y)
                samples[0], stepping.sample = sampler.next_instant(), 0
            elif status in (Status.DONE, Status.STOPPED):
                recorded.finish(memory)
                return recorded, status, ""
            else:
                recorded.take(memory)
            if status == Status.PAUSE and not is_short and not is_review:
                spent = time.perf_counter() - entered
                stepping.budget = int(min(1e6, max(1, stepping.budget * min(4.0, PAUSE_SECONDS / max(spent, 1e-9)))))
            if status in GOES_ON:
                # samples and full buffers may keep it from ever pausing
                if progress is not None and (status == Status.PAUSE or time.perf_counter() - reported > PAUSE_SECONDS):
                    reported = time.perf_counter()
                    progress(float(stepping.t), float(stepping.t_end))
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
