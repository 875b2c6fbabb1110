"""stepper: a run that its caller advances, step by step, with motor torques held over each."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import FLOAT, as_model, as_names, as_number, as_state, as_vector
from pliant.engine.callbacks import CallbackError
from pliant.errors import ModelError
from pliant.model.columns import command_columns
from pliant.model.control import Controller
from pliant.model.joints import Joint
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model
from pliant.model.quantities import LARGEST
from pliant.results.outputs import OutputsNow
from pliant.results.recording import Event
from pliant.simulation.controllers import Sampler, held
from pliant.simulation.moved import warn_of_moved
from pliant.simulation.options import check_tables
from pliant.simulation.outcome import events_of, status_word
from pliant.simulation.repeated_run import RepeatedRun
from pliant.simulation.snapshot import Snapshot, Tables
from pliant.system.memory import CHANGED_INPUT
from pliant.system.status import Status

Array = NDArray[np.float64]
DONE = int(Status.DONE)
ENTRY_WORK = 20_000  # steps of the integrator times velocities, after which Ctrl-C is looked for
ENDLESS = 2**62  # steps: what a call may make is looked at here, not by the kernel
BRIEF = 1e-9  # [s]
LONGEST_STEP = 1e6  # [s]
ROUNDING = 1e-12  # of the duration
STATUSES = ("running", "failed", "stopped")
DAMAGED = "saved: it is not as save() made it; save anew, or begin there anew: reset(saved.q, saved.v)"


@dataclass(frozen=True, eq=False)
class SavedState:
    """Where a Stepper was, with all that the next step depends on: `restore` goes on from it to the last bit."""

    t: float  # [s]
    q: Array
    v: Array
    status: str
    reason: str
    made_of: tuple[Any, ...]  # model, joints and options of its stepper
    clock: tuple[float, int, float]  # since when steps of one length are counted [s], how many, how long [s]
    snapshot: Snapshot


class Stepper:
    """A run advanced by its caller: step(tau, dt) until it is no longer ok; reset, save, restore, copy.

    Motion is that of simulate: same methods and tolerances, events located inside the step, contacts, friction, loops
    and flexible links; tau is held over the step. Threads that share a stepper take turns; copy() makes another."""

    _run: RepeatedRun

    def __init__(
        self,
        model: Model,
        joints: str | Sequence[str] | None = None,
        *,
        duration: float | None = None,
        **options: Any,
    ) -> None:
        self._make(as_model(model), _commanded(model, joints), {"duration": duration, **warn_of_moved(options)})
        self.reset()

    def _make(
        self, model: Model, joints: tuple[str, ...], options: dict[str, Any], like: Stepper | None = None
    ) -> None:
        """like: a stepper made of the same, whose tables serve this one, too."""
        self.model, self.joints, self._options = model, joints, options
        # without a duration it has one here, so that the options can be checked; steps do not look at it
        is_endless = options["duration"] is None
        usual = options | ({"duration": BRIEF} if is_endless else {})
        commanded = _with_commands(model, joints) if like is None else like._run.handle.model
        self._run = RepeatedRun(commanded, False, None if like is None else like._run.handle.packed, **usual)
        self._t_last = np.inf if is_endless else float(self._run.options["duration"])
        check_tables(model, 0.0, self._t_last)
        self._open_views()
        self._max_steps = int(self._run.options["max_steps"])
        self._run.stepping0["budget"] = max(10, ENTRY_WORK // max(1, len(self._run.handle.system.dofs)))
        self._run.stepping0["max_steps"] = ENDLESS
        self._tables = Tables(self._run.run)
        self._fresh = self._tables.save()  # with what closures and Newton's method have at the start
        self._log: list[tuple[int, int, float]] = []
        self._clock: tuple[float, int, float] = (0.0, 0, np.nan)
        self._sampler = Sampler(self._run.handle)
        self._status, self._reason = "", ""
        self._is_running = False

    def _open_views(self) -> None:
        """Of what is written and read at every step: an attribute of a record takes many times as long."""
        run, handle = self._run.run, self._run.handle
        stepping = run.memory.stepping.view(np.ndarray)
        self._t, self._t_end, self._made_jump = stepping["t"], stepping["t_end"], stepping["made_jump"]
        self._n_log, self._n_steps = stepping["n_log"], stepping["n_steps"]
        names = [column.name.removesuffix(".command") for column in command_columns(handle.model)]
        self._first_input = first = len(command_columns(self.model))  # in work.inputs, from which on they are tau
        self._commanded = tuple(names[first:])
        self._tau, self._shape = handle.work.inputs[first:], (len(names) - first,)
        self._lock, self._enter, self._has_events = handle.lock, run.enter, len(handle.system.events) > 0
        self._y: Array = run.memory.y
        self._q: Array
        self._v: Array
        self._q, self._v = self._y[: self._run.n_q], self._y[self._run.n_q : self._run.n_q + self._run.n_v]

    # --- steps --------------------------------------------------------------------------------------------------

    def step(self, tau: ArrayLike | None, dt: float) -> bool:
        """Advance by dt [s] under motor torques and forces tau (one per name in `commanded`; None: as before).

        Whether it came there; if not, status and reason say why, and it stays where it ended until reset or restore."""
        if type(tau) is np.ndarray and tau.dtype is FLOAT and tau.shape == self._shape:
            command: Array = tau
        else:
            command = self._tau if tau is None else as_vector(tau, self._commanded, "tau")
        if not math.hypot(*command.tolist()) <= LARGEST:  # one may be too large, or no number
            as_vector(command, self._commanded, "tau")
        if not (type(dt) is float and 0.0 < dt < LONGEST_STEP):
            dt = as_number(dt, "dt", 0.0, LONGEST_STEP, "[s]")
        with self._lock:
            if self._status != "running":
                return False
            if self._is_running:
                raise ModelError("this stepper is in the middle of a step, and steps itself; give it a copy() to step")
            self._set_end(dt)
            self._tau[:] = command
            if self._made_jump[0] == 0:
                self._made_jump[0] = CHANGED_INPUT
            if self._has_events:
                self._n_log[0] = 0
                self._log.clear()
            status = self._enter()
            return True if status == DONE else self._go_on(status)

    def _set_end(self, dt: float) -> None:
        """Where this step ends: steps of one length end at whole multiples of it, as sampling instants do."""
        t, (since, count, length) = float(self._t[0]), self._clock
        if dt != length or t != self._t_end[0]:
            since, count = t, 0
        end = since + (count + 1) * dt
        if end > self._t_last * (1.0 + ROUNDING):
            raise ModelError(
                f"dt: a step of {dt:g} s from t = {t:.9g} s goes beyond the duration of this stepper, "
                f"{self._t_last:g} s; give a longer duration, or none"
            )
        if not end - t > 0.5 * dt:
            raise ModelError(f"dt: {dt:g} s is lost in rounding at t = {t:.9g} s; give a longer one")
        self._clock, self._t_end[0] = (since, count + 1, dt), end

    @property
    def _refs(self) -> tuple[Any, ...]:
        """System, Work and Memory as kernels take them; another Memory when "auto" changes the integrator."""
        return (*self._run.handle.refs, self._run.run.memory_ref)

    def _go_on(self, code: int) -> bool:
        """A step that needs Python on its way (controllers, a change of the integrator, Ctrl-C), or that has failed."""
        run, memory, begun = self._run.run, self._run.memory, int(self._n_steps[0])
        status, words, self._is_running = Status(code), "", True
        try:
            while status != Status.DONE:
                if status == Status.SAMPLE:
                    self._sampler.instant(float(self._t[0]), self._y)
                    memory.samples[0], memory.stepping[0].sample = self._sampler.next_instant(), 0
                elif status == Status.BUFFER_FULL:
                    self._take_log()
                elif status == Status.REVIEW:
                    status = run.review()
                    continue
                elif status == Status.PAUSE and self._n_steps[0] - begun >= self._max_steps:
                    status = Status.TOO_MANY_STEPS
                    break
                elif status != Status.PAUSE and run.gives_up(status):
                    break
                status = Status(self._enter())
        except CallbackError as error:
            status, words = Status.CONTROLLER_FAILED, str(error)
        finally:
            self._is_running = False
        if status != Status.DONE:
            self._take_log()
            self._status, self._reason = status_word(status), words or self._run.why(status, self._log)
        return status == Status.DONE

    def _take_log(self) -> None:
        n = int(self._n_log[0])
        self._log += [(int(row.event), int(row.direction), float(row.t)) for row in self._run.memory.log[:n]]
        self._n_log[0] = 0

    # --- where it is ----------------------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        """[s] now."""
        return float(self._t[0])

    @property
    def q(self) -> Array:
        """Coordinates, a copy; as model.coordinates."""
        return self._q.copy()

    @property
    def v(self) -> Array:
        """Velocities, a copy; as model.velocities."""
        return self._v.copy()

    @property
    def state(self) -> tuple[Array, Array]:
        """(q, v), copies."""
        return self._q.copy(), self._v.copy()

    @property
    def commanded(self) -> tuple[str, ...]:
        """Velocities whose motors tau drives, in its order."""
        return self._commanded

    @property
    def is_ok(self) -> bool:
        """Whether it can step on."""
        return self._status == "running"

    @property
    def status(self) -> str:
        """ "running", "failed", or "stopped": by a crossing that stops, or a limit without stiffness."""
        return self._status

    @property
    def reason(self) -> str:
        """Why it failed or stopped; "" while it runs."""
        return self._reason

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened in the last step: contacts, limits, crossings, changes of friction, with their times."""
        with self._lock:
            self._take_log()
            return events_of(self._run.handle, self._log)

    @property
    def contacts(self) -> tuple[tuple[str, str], ...]:
        """Which points touch now: (contact, point)."""
        handle = self._run.handle
        rows = zip(handle.packed.contact_names, handle.system.contacts, strict=True)
        return tuple((contact, point) for (contact, point), row in rows if handle.work.phase[row.phase].is_active)

    def outputs(self) -> dict[str, Array]:
        """The model's outputs now, each an array, under the torques of the last step."""
        with self._lock:
            work = self._run.handle.work
            return self._outputs.at(self.t, self._y, work.inputs, work.phase)

    @cached_property
    def _outputs(self) -> OutputsNow:
        return OutputsNow(self._run.handle)

    # --- other places -----------------------------------------------------------------------------------------------

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Begin anew at t = 0 from (q, v), left out: the model's; as a new stepper would, to the last bit. A start that
        the model cannot have is a ModelError, and leaves it where it was."""
        model = self.model
        start = as_state(model, model.q0 if q is None else q, model.v0 if v is None else v)
        given = None if q is None else start[0], None if v is None else start[1]
        with self._lock:
            self._check_idle()
            before = self.save() if self._status else None
            run = self._run.run
            run.begin_again()
            self._tables.restore(self._fresh)
            try:
                self._run.begin(*given)
            except ModelError:
                if before is not None:
                    self.restore(before)
                raise
            self._sampler = run.sampler = Sampler(self._run.handle)
            run.memory.samples[:] = self._sampler.next_instant()
            self._clock, self._status, self._reason = (0.0, 0, np.nan), "running", ""
            self._log.clear()

    def _check_idle(self) -> None:
        if self._is_running:
            raise ModelError("this stepper is in the middle of a step; what that asks cannot move it, use a copy()")

    def save(self) -> SavedState:
        """A copy of where it is, with all that the next step depends on; it can be pickled."""
        with self._lock:
            self._check_idle()
            q, v = self.state
            now = (self.t, q, v, self._status, self._reason)
            return SavedState(*now, self._made_of, self._clock, self._tables.save())

    def restore(self, saved: SavedState) -> None:
        """Be where that was saved, by this stepper or another one made of the same; steps go on to the last bit."""
        if not isinstance(saved, SavedState):
            raise ModelError(f"saved: {quoted(saved)} found; give what save() of a stepper returned")
        is_same = saved.made_of is self._made_of
        if not is_same and not (isinstance(saved.made_of, tuple) and saved.made_of == self._made_of):
            raise ModelError(
                "saved: it is of a stepper with another model, other joints or other options; restore it there, or "
                "begin there anew: reset(saved.q, saved.v)"
            )
        if not (_is_clock(saved.clock) and isinstance(saved.reason, str) and _is_status(saved.status)):
            raise ModelError(DAMAGED)
        with self._lock:
            self._check_idle()
            snapshot = saved.snapshot
            if not self._tables.is_snapshot(snapshot) or len(snapshot.sampled) != len(self._sampler.sensors):
                raise ModelError(DAMAGED)
            sampler = Sampler(self._run.handle, saved.snapshot.sampled)
            self._tables.restore(saved.snapshot)
            self._sampler = self._run.run.sampler = sampler
            self._clock, self._status, self._reason = saved.clock, saved.status, saved.reason
            self._log.clear()

    def copy(self) -> Stepper:
        """Another stepper where this one is, for another thread; they share the tables that never change."""
        saved, other = self.save(), Stepper.__new__(Stepper)
        other._make(self.model, self.joints, self._options, self)
        other.reset()
        other.restore(saved)
        return other

    @cached_property
    def _made_of(self) -> tuple[Any, ...]:
        return self.model, self.joints, self._options

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and sent to other processes as what it is made of, and where it is."""
        return _again, (self.model, self.joints, self._options, self.save())

    def __repr__(self) -> str:
        why = f" {self._reason}" if self._reason else ""
        return f"<Stepper of {self.model.name!r}: {self._status} at t = {self.t:.9g} s{why}>"


def _is_status(status: Any) -> bool:
    return isinstance(status, str) and status in STATUSES


def _is_clock(clock: Any) -> bool:
    """Return True for a Stepper's clock: since when [s], how many steps, of what length [s], nan at the start."""
    is_clock = isinstance(clock, tuple) and [type(each) for each in clock] == [float, int, float]
    return (
        is_clock
        and math.isfinite(clock[0])
        and clock[1] >= 0
        and (math.isnan(clock[2]) or 0.0 < clock[2] < LONGEST_STEP)
    )


def _again(model: Model, joints: tuple[str, ...], options: dict[str, Any], saved: SavedState) -> Stepper:
    found = Stepper(model, joints, **options)
    found.restore(saved)
    return found


def _commanded(model: Model, joints: Any) -> tuple[str, ...]:
    """Joints that tau drives: those named, or all that have a free motor."""
    taken = {name for controller in as_model(model).controllers for name in controller.joints}
    if joints is None:
        return tuple(joint.name for joint in model.joints if joint.name not in taken and _can_be_driven(joint))
    names = as_names(joints, "joints")
    known = [joint.name for joint in model.joints if joint.kind != "fixed"]
    for name in names:
        if name not in known:
            raise ModelError(
                f"joints: {quoted(name)} found{closest(name, known) or ';'} joints that can be driven are "
                f"{listed(known)}"
            )
        if name in taken:
            raise ModelError(f"joints: {name!r} is commanded by a controller of the model; leave one of them out")
    for joint in model.joints:
        if joint.name in names and joint.row.velocities and not _is_free(joint):
            raise ModelError(
                f"joints: {joint.name!r} moves as its motion says, so that tau has no effect on it; leave one of the "
                "two out"
            )
    if len(set(names)) < len(names):
        raise ModelError(f"joints: {listed(names)} name one joint twice; name each once")
    return names


def _can_be_driven(joint: Joint) -> bool:
    """Whether it is one that has a motor: neither fixed nor free to fly, and its motion is not given."""
    return joint.kind not in ("fixed", "floating") and _is_free(joint)


def _is_free(joint: Joint) -> bool:
    return any(motion is None or motion == "free" for motion in joint.each("motion"))


def _with_commands(model: Model, joints: tuple[str, ...]) -> Model:
    """The model with a controller whose commands the stepper writes."""
    if not joints:
        return model
    name = "stepper"
    while name in {controller.name for controller in model.controllers}:
        name += "_"
    mine = Controller(name, period=1.0, joints=joints, function=held)
    return dataclasses.replace(model, controllers=(*model.controllers, mine))


def stepper(
    model: Model,
    joints: str | Sequence[str] | None = None,
    *,
    duration: float | None = None,
    **options: Any,
) -> Stepper:
    """A run that you advance: stepper(model).step(tau, 0.01) again and again, in microseconds each.

    joints: whose motors tau drives, in this order (default: all that no controller commands, but those of floating
    joints and prescribed motions). duration: how far it may go [s], where a table of prescribed motion ends (default:
    without end). options: those of simulate, but dense, sample, q0, v0, start and progress."""
    return Stepper(model, joints, duration=duration, **options)
