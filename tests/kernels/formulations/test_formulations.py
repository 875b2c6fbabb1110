"""Physical identities that every formulation keeps, over the zoo and random states. A new row of methods.py is tested
with no new code.

Tolerances: TIGHT for what is algebra (two right answers differ by rounding x condition(M), which the zoo keeps below
1e4), SMOOTH for what needs a derivative by extrapolated differences (steps of 1/10 .. 1/80 of the motion's time scale:
truncation .1^8, and rounding 1e-14 of values some 1e2 times the largest power at worst)."""

from __future__ import annotations

import dataclasses
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from pliant.engine.prepared import Prepared
from pliant.mechanisms.assembly import assemble
from pliant.mechanisms.motion import loop_wrenches
from pliant.methods import FORMULATIONS
from pliant.model.bodies import Body, Frame
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.model.signals import Sine
from pliant.model.springs import free_lengths
from pliant.model.transmissions import TorqueTable
from pliant.queries.dynamics import forward_dynamics, inverse_dynamics
from pliant.results.outputs import recorded_outputs
from pliant.system.phases import Phases
from pliant.system.tables import Power
from random_models import advance, derivatives, frames_of, largest, planar_model, random_state, time_scale
from zoo import ZOO, supporting

TIGHT = 1e-10
SMOOTH = 1e-9
TIME = 0.7
SEEDS = range(3)

pairs = [(name, row) for name, model in ZOO.items() for row in supporting(model)]
every_state = pytest.mark.parametrize("seed", SEEDS)
every_model = pytest.mark.parametrize("name", ZOO)
every_pair = pytest.mark.parametrize(("name", "formulation"), pairs)


class Instant:
    """A model of the zoo at a random state, seen by one formulation."""

    def __init__(self, name: str, seed: int, formulation: str = "auto", model: Model | None = None) -> None:
        self.model = model or ZOO[name]
        self.handle = Prepared(self.model, formulation)
        self.q, self.v, self.vdot, self.tau = random_state(self.model, np.random.default_rng([seed, len(name)]))
        if self.model.loops:
            near = advance(self.model, self.model.q0, 0.2 * self.v, 0.0 * self.v, 1.0)
            self.q, self.v = assemble(self.model, near, self.v)
        self.handle.start_phase(np.concatenate([self.q, self.v, np.zeros(int(self.handle.system.world[0].n_z))]))

    @property
    def driven(self) -> np.ndarray:
        return self.handle.system.dofs.motion >= 0

    def forward(self) -> np.ndarray:
        return self.handle.forward_dynamics(self.q, self.v, self.tau, TIME)

    def inverse(self, vdot: np.ndarray) -> np.ndarray:
        return self.handle.inverse_dynamics(self.q, self.v, vdot, TIME)

    def reactions(self) -> np.ndarray:
        return self.handle.reactions(self.q, self.v, self.tau, TIME)

    def terms(self, vdot: np.ndarray) -> float:
        """The largest term in the equations of motion."""
        M, h = self.handle.equations(self.q, self.v)
        return max(largest(np.abs(M) @ np.abs(vdot)), largest(h), largest(self.tau))

    def along(self, vdot: np.ndarray, function: object) -> np.ndarray:
        """Time derivative of function(q, v) on the motion with this acceleration."""

        def moved(h: float) -> np.ndarray:
            return function(advance(self.model, self.q, self.v, vdot, h), self.v + h * vdot)

        return derivatives(moved, time_scale(self.v, vdot))[0]


# --- one answer -------------------------------------------------------------------------------------------------


@every_state
@every_model
def test_formulations_find_the_same_accelerations(name: str, seed: int) -> None:
    found = [Instant(name, seed, row).forward() for row in supporting(ZOO[name])]
    for one, other in combinations(found, 2):
        assert largest(one - other) < TIGHT * largest(one)


@every_state
@every_model
def test_formulations_find_the_same_reactions(name: str, seed: int) -> None:
    found = [Instant(name, seed, row).reactions() for row in supporting(ZOO[name])]
    for one, other in combinations(found, 2):
        assert largest(one - other) < TIGHT * largest(one)


@every_state
@every_pair
def test_a_handle_has_no_memory_of_other_states(name: str, formulation: str, seed: int) -> None:
    """Bit for bit: scratch of earlier calls, reactions included, never shows."""
    fresh, used = Instant(name, seed, formulation), Instant(name, seed, formulation)
    other = Instant(name, seed + 100, formulation)
    used.handle.reactions(other.q, other.v, other.tau, 2.0 * TIME)
    used.handle.inverse_dynamics(other.q, other.v, other.vdot, 2.0 * TIME)
    assert np.array_equal(fresh.forward(), used.forward())
    assert np.array_equal(fresh.reactions(), used.reactions())


# --- equations of motion ----------------------------------------------------------------------------------------


@every_state
@every_pair
def test_mass_matrix_times_acceleration_plus_bias_is_force(name: str, formulation: str, seed: int) -> None:
    """M vdot + h = tau + what the model carries + drives. Carried forces from inverse dynamics: needed minus asked."""
    x = Instant(name, seed, formulation)
    vdot = x.forward()
    drives = np.where(x.driven, x.handle.work.dofs.constraint_force, 0.0)
    carried = x.handle.work.dofs.tau - x.tau
    external = _generalised_loads(x) + _generalised(x, _contact_wrenches(x))
    closure = _generalised(x, _closure_wrenches(x))
    M, h = x.handle.equations(x.q, x.v)
    scale = x.terms(vdot) + largest(closure)
    assert largest(M @ vdot + h - (x.tau + carried + external + drives + closure)) < TIGHT * scale


# (row of a frame, force, couple) in world axes, at the origin of the frame
Wrench = tuple[int, np.ndarray, np.ndarray]


def _generalised(x: Instant, wrenches: list[Wrench]) -> np.ndarray:
    """Force times velocity and couple times spin of their frames, under unit velocities."""
    total = np.zeros(len(x.v))
    for j, unit in enumerate(np.eye(len(x.v)) if wrenches else ()):
        frames = frames_of(x.handle, x.q, unit)
        total[j] = sum(force @ frames.velocity[k] + couple @ frames.spin[k] for k, force, couple in wrenches)
    return total


def _contact_wrenches(x: Instant) -> list[Wrench]:
    """On every body, as the last evaluation gathered them: no model here has both contacts and loads."""
    if not x.model.contacts:
        return []
    frames, bodies = frames_of(x.handle, x.q, x.v), x.handle.work.bodies
    return [(i, frames.R[i] @ body.f, frames.R[i] @ body.n) for i, body in enumerate(bodies)]


def _closure_wrenches(x: Instant) -> list[Wrench]:
    """On the second frame of every loop, and the same backwards on the first, as the last evaluation left them."""
    if not x.model.loops:
        return []
    found, loops = [], loop_wrenches(x.handle)
    frames = frames_of(x.handle, x.q, x.v)
    for row, wrench in zip(x.handle.system.loops, loops.values(), strict=True):
        first, second = int(row.first), int(row.second)
        force, couple = frames.R[second] @ wrench[:3], frames.R[second] @ wrench[3:]
        back = couple + np.cross(frames.p[second] - frames.p[first], force)
        found += [(second, force, couple), (first, -force, -back)]
    return found


def _generalised_loads(x: Instant) -> np.ndarray:
    """Loads and springs through the Jacobians of their frames (velocities under unit v), from their definitions.

    What a load does to the modes of the beam it acts on is gathered in tau already."""
    units = np.eye(len(x.v))
    wrenches = _world_loads(x) + _spring_forces(x)
    total = np.array([_power(x, unit, wrenches) for unit in units])
    for i, link in enumerate(x.model.links):
        for j in range(link.v_modes.start, link.v_modes.stop):
            total[j] -= _power(x, units[j], wrenches, only=i)
    return total


def _power(x: Instant, v: np.ndarray, wrenches: list[Wrench], only: int | None = None) -> float:
    """Sum of force times velocity and couple times spin, of all or those on one body."""
    frames = frames_of(x.handle, x.q, v)
    return sum(
        force @ frames.velocity[k] + couple @ frames.spin[k]
        for k, force, couple in wrenches
        if only is None or x.handle.system.frames[k].body == only
    )


def _world_loads(x: Instant) -> list[Wrench]:
    """Frame, force and couple of every load at TIME, world axes."""
    frames = frames_of(x.handle, x.q, x.v)
    found = []
    for load, k in zip(x.model.loads, x.handle.system.loads.frame, strict=True):
        value = np.array([_value(signal) for signal in (load.x, load.y, load.z)])
        if load.axes == "body":
            value = frames.R[k] @ value
        force, couple = (value, np.zeros(3)) if load.kind == "force" else (np.zeros(3), value)
        found.append((int(k), force, couple))
    return found


def _spring_forces(x: Instant) -> list[Wrench]:
    """On the ends of every spring that are on bodies, from the definition in model/springs.py, world axes."""
    frames, found = frames_of(x.handle, x.q, x.v), []
    for spring, row, free in zip(x.model.springs, x.handle.system.springs, free_lengths(x.model), strict=True):
        a, b = int(row.start), int(row.end)
        d, rate = frames.p[b] - frames.p[a], frames.velocity[b] - frames.velocity[a]
        length = np.linalg.norm(d)
        s, law = length - free, spring.stiffness
        elastic = law * s if isinstance(law, float) else _beyond(PchipInterpolator(*law.both_ways), s)
        tension = elastic + spring.damping * (d @ rate) / length - _value(spring.motor)
        if spring.only == "tension":
            tension = max(tension, 0.0) if s > 0.0 else 0.0
        found += [(k, sign * tension * d / length, np.zeros(3)) for k, sign in ((a, 1.0), (b, -1.0))]
    return [wrench for wrench in found if x.handle.system.frames[wrench[0]].body >= 0]


def _beyond(law: PchipInterpolator, s: float) -> float:
    """Goes on with the slope of the ends."""
    at = np.clip(s, law.x[0], law.x[-1])
    return float(law(at) + law(at, 1) * (s - at))


def _value(signal: object) -> float:
    """At TIME, from the definitions in model/signals.py."""
    if signal is None:
        return 0.0
    if signal.kind == "constant":
        return signal.value
    if signal.kind == "sine":
        return signal.offset + signal.amplitude * np.sin(signal.omega * TIME + signal.phase)
    if signal.kind == "cycloid":
        s = (TIME - signal.start) / (signal.end - signal.start)
        return signal.before + (signal.after - signal.before) * (s - np.sin(2.0 * np.pi * s) / (2.0 * np.pi))
    assert signal.kind == "chirp"
    passed = TIME - signal.start
    mean = signal.omega0 + 0.5 * (signal.omega1 - signal.omega0) * passed / (signal.end - signal.start)
    return signal.offset + signal.amplitude * np.sin(mean * passed)


@every_state
@every_model
def test_joints_carry_the_forces_their_words_say(name: str, seed: int) -> None:
    """-k (q - rest) - d v + gear motor(t) - stop, and torques of transmissions, from the model; springs of ball joints
    have their own test below."""
    x = Instant(name, seed)
    x.forward()
    carried = x.handle.work.dofs.tau - x.tau
    for link in x.model.links:
        joint = link.joint
        given = zip(
            *(joint.each(key) for key in ("stiffness", "rest", "damping", "gear", "motor", "limit")), strict=True
        )
        for k, (stiffness, rest, damping, gear, motor, limit) in enumerate(given):
            if any(joint.each("stiffness")) and not joint.row.has_plain_rates:
                continue
            j, v = link.v + k, x.v[link.v + k]
            wanted = gear * _value(motor) - damping * v
            if joint.row.has_plain_rates:
                q = x.q[link.q + k]
                wanted += -stiffness * (q - rest) - _stop_force(limit, q, v)
            wanted += _transmitted(x, j)
            assert abs(carried[j] - wanted) < TIGHT * (1.0 + abs(wanted))


def _transmitted(x: Instant, j: int) -> float:
    """f(theta1 - theta2) + c (theta1' - theta2') on the link, the reverse on the motor."""
    for motor, link in pairwise(x.model.links):
        if motor.transmission is not None and j in (motor.v, link.v):
            law, twist = motor.transmission.stiffness, x.q[motor.q] - x.q[link.q]
            torque = law * twist if isinstance(law, float) else _table_torque(law, twist)
            torque += motor.transmission.damping * (x.v[motor.v] - x.v[link.v])
            return torque if j == link.v else -torque
    return 0.0


def _table_torque(table: TorqueTable, twist: float) -> float:
    """By scipy, beyond the ends along the tangent."""
    both = ([*(-x for x in values[:0:-1]), *values] for values in (table.twist, table.torque))
    curve = PchipInterpolator(*both)
    inside = min(max(twist, -table.twist[-1]), table.twist[-1])
    return float(curve(inside) + curve(inside, 1) * (twist - inside))


def _stop_force(limit: object, q: float, v: float) -> float:
    """How hard a stop pushes back, towards lower q."""
    if limit in (None, "none"):
        return 0.0
    if limit.upper is not None and q > limit.upper:
        return max(0.0, limit.stiffness * (q - limit.upper) + limit.damping * v)
    if limit.lower is not None and q < limit.lower:
        return -max(0.0, limit.stiffness * (limit.lower - q) - limit.damping * v)
    return 0.0


@every_state
@every_pair
def test_forward_after_inverse_is_the_identity(name: str, formulation: str, seed: int) -> None:
    x = Instant(name, seed, formulation)
    # a mechanism is asked for an acceleration that it can have
    wanted = np.where(x.driven | bool(x.model.loops), x.forward(), x.vdot)
    x.tau = x.inverse(wanted)
    assert largest(x.forward() - wanted) < TIGHT * max(largest(wanted), largest(x.tau))


@every_state
@every_pair
def test_inverse_after_forward_is_the_identity(name: str, formulation: str, seed: int) -> None:
    """Where motions are prescribed, inverse dynamics finds tau plus the force of the drive; of a mechanism, what its
    tree needs: tau plus the forces of closure."""
    x = Instant(name, seed, formulation)
    vdot = x.forward()
    closure = _generalised(x, _closure_wrenches(x))
    wanted = x.tau + np.where(x.driven, x.handle.work.dofs.constraint_force, 0.0) + closure
    assert largest(x.inverse(vdot) - wanted) < TIGHT * (x.terms(vdot) + largest(closure))


@every_state
@every_model
def test_mass_matrix_is_symmetric_and_positive(name: str, seed: int) -> None:
    x = Instant(name, seed)
    M = x.handle.mass_matrix(x.q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0


# --- energy -----------------------------------------------------------------------------------------------------


@every_state
@every_model
def test_kinetic_energy_is_half_v_mass_matrix_v(name: str, seed: int) -> None:
    x = Instant(name, seed)
    kinetic = x.handle.energy(x.q, x.v).kinetic
    assert abs(kinetic - 0.5 * x.v @ x.handle.mass_matrix(x.q) @ x.v) < 1e-13 * kinetic


@every_state
@every_pair
def test_energy_grows_by_the_power_of_all_that_acts(name: str, formulation: str, seed: int) -> None:
    x = Instant(name, seed, formulation)
    vdot = x.forward()
    powers = x.handle.work.power.copy()
    powers[Power.DRIVE] = np.where(x.driven, x.handle.work.dofs.constraint_force, 0.0) @ x.v
    rate = x.along(vdot, lambda q, v: np.array(dataclasses.astuple(x.handle.energy(q, v))))
    scale = max(largest(rate), largest(powers), largest(x.tau * x.v))
    assert abs(rate.sum() - powers.sum() - x.tau @ x.v) < SMOOTH * scale


@every_state
@every_model
def test_power_of_loads_is_force_times_velocity_of_its_frame(name: str, seed: int) -> None:
    x = Instant(name, seed)
    x.forward()
    wanted = _power(x, x.v, _world_loads(x))
    assert abs(x.handle.work.power[Power.LOAD] - wanted) < TIGHT * (1.0 + abs(wanted))


@every_state
@every_model
def test_springs_are_the_gradient_of_their_energy(name: str, seed: int) -> None:
    """Per velocity: d(elastic)/dt under a unit velocity is minus the spring's force, ball joints included."""
    x = Instant(name, seed)
    bare = dataclasses.replace(x.model, joints=[dataclasses.replace(j, **NO_SPRING) for j in x.model.joints])
    soft = Instant(name, seed, model=bare)
    force = soft.inverse(x.vdot) - x.inverse(x.vdot)

    def elastic(q: np.ndarray, v: np.ndarray) -> float:
        return x.handle.energy(q, v).elastic - soft.handle.energy(q, v).elastic

    for j in range(len(x.v)):
        unit = np.eye(len(x.v))[j]
        x.v = unit
        slope = x.along(np.zeros(len(unit)), elastic)
        assert abs(slope + force[j]) < SMOOTH * (1.0 + largest(force) + soft.terms(x.vdot))


NO_SPRING = {"stiffness": 0.0}


# --- reactions --------------------------------------------------------------------------------------------------


@every_state
@every_pair
def test_base_reaction_is_rate_of_momentum_minus_external_forces(name: str, formulation: str, seed: int) -> None:
    """Linear and angular, about the world origin; several roots add up."""
    x = Instant(name, seed, formulation)
    vdot, reactions = x.forward(), x.reactions()

    def momentum(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        found = x.handle.momentum(q, v)
        return np.concatenate([found.linear, found.angular])

    rate = x.along(vdot, momentum)
    state = x.handle.momentum(x.q, x.v)
    weight = state.mass * np.array(x.model.gravity)
    total = np.concatenate([weight, np.cross(state.centre, weight)])
    bodies = frames_of(x.handle, x.q, x.v)
    for k, force, couple in _world_loads(x) + _spring_forces(x):
        total += np.concatenate([force, np.cross(bodies.p[k], force) + couple])
    for k, force, couple in _contact_wrenches(x) + _closure_wrenches(x):
        if x.handle.system.frames[k].body >= 0:
            total += np.concatenate([force, np.cross(bodies.p[k], force) + couple])
    for i, link in enumerate(x.model.links):
        if link.parent < 0:
            force, moment = bodies.R[i] @ reactions[i, :3], bodies.R[i] @ reactions[i, 3:]
            total += np.concatenate([force, moment + np.cross(bodies.p[i], force)])
    assert largest(rate - total) < SMOOTH * (largest(rate) + largest(reactions) + largest(weight))


@every_state
@every_pair
def test_reaction_along_the_joint_is_what_acts_there(name: str, formulation: str, seed: int) -> None:
    """S^T wrench + armature vdot = motor, spring, damper, limit, drive and tau: nothing else passes along a freedom."""
    x = Instant(name, seed, formulation)
    vdot, wrenches = x.forward(), x.reactions()
    dofs, work = x.handle.system.dofs, x.handle.work.dofs
    acting = work.tau + np.where(x.driven, work.constraint_force, 0.0)
    for j in (j for link in x.model.links for j in range(link.v_slice.start, link.v_slice.stop)):
        i = int(dofs[j].body)
        unit = np.eye(len(x.v))[j]
        motion = _relative_motion(x, i, unit)
        passed = wrenches[i] @ motion + dofs[j].armature * vdot[j]
        assert abs(passed - acting[j]) < TIGHT * (x.terms(vdot) + largest(wrenches))


def _relative_motion(x: Instant, i: int, v: np.ndarray) -> np.ndarray:
    """Velocity and spin of body i in its own axes, under the velocities of its own joint alone."""
    frames = frames_of(x.handle, x.q, v)
    return np.concatenate([frames.R[i].T @ frames.velocity[i], frames.R[i].T @ frames.spin[i]])


# --- prescribed motion ------------------------------------------------------------------------------------------


@every_state
@pytest.mark.parametrize("formulation", supporting(ZOO["driven_crane"]))
def test_a_drive_does_what_a_free_joint_needs_for_the_same_motion(formulation: str, seed: int) -> None:
    """The same crane with its motions set free, under the drives' forces, moves alike."""
    x = Instant("driven_crane", seed, formulation)
    vdot = x.forward()
    drive = np.where(x.driven, x.handle.work.dofs.constraint_force, 0.0)
    free = Instant("driven_crane", seed, formulation, _set_free(x.model))
    free.tau = x.tau + drive
    assert largest(free.forward() - vdot) < TIGHT * largest(vdot)
    assert largest(free.inverse(vdot) - free.tau) < TIGHT * free.terms(vdot)
    assert largest(free.reactions() - x.reactions()) < TIGHT * largest(x.reactions())


@every_state
@pytest.mark.parametrize("formulation", supporting(ZOO["driven_crane"]))
def test_prescribed_accelerations_are_the_second_derivatives_of_their_signals(formulation: str, seed: int) -> None:
    """Cycloid, sine and spline from their definitions, not from the kernels."""
    x = Instant("driven_crane", seed, formulation)
    vdot = x.forward()
    _, wanted = derivatives(lambda h: _motions(TIME + h), 0.1)
    assert largest(vdot[x.driven] - wanted) < SMOOTH * largest(wanted)


def _motions(t: float) -> np.ndarray:
    """Slew (cycloid), trolley (sine) and the turn in the air (spline) of the crane."""
    s = (t + 0.5) / 3.0
    cycloid = 1.5 * (s - np.sin(2.0 * np.pi * s) / (2.0 * np.pi))
    return np.array([cycloid, 1.0 + 0.5 * np.sin(2.0 * t + 0.3), _spline(t)])


def _spline(t: float) -> float:
    """Not-a-knot through four points is one cubic: Lagrange."""
    times, values = (-3.0, 0.0, 1.5, 4.0), (0.0, 0.4, -0.3, 0.2)
    return sum(y * np.prod([(t - b) / (a - b) for b in times if b != a]) for a, y in zip(times, values, strict=True))


def _set_free(model: Model) -> Model:
    return dataclasses.replace(model, joints=[dataclasses.replace(joint, motion=None) for joint in model.joints])


@every_state
@pytest.mark.parametrize("formulation", supporting(ZOO["driven_crane"]))
def test_a_prescribed_motion_needs_no_inertia(formulation: str, seed: int) -> None:
    """A thin rod turned about itself: nothing resists, and nothing has to."""
    rod = Body(name="rod", mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.0, 0.1, 0.1))
    spin = Joint(name="spin", kind="revolute", child="rod", axis=(1, 0, 0), motion=Sine(omega=2.0))
    model = Model(name="thin rod", bodies=[rod], joints=[spin])
    x = Instant("thin rod", seed, formulation, model)
    assert largest(x.forward() + 4.0 * np.sin(2.0 * TIME)) < TIGHT
    # gravity acts at the mass centre, on the axis
    assert largest(x.handle.work.dofs.constraint_force + x.tau) < TIGHT


# --- limits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", supporting(ZOO["stopped_arm"]))
def test_forward_and_inverse_dynamics_feel_a_pressed_stop(formulation: str) -> None:
    """The functions of one instant include stops as simulate does: depth .1 rad, 2 rad/s outward, k = 80, d = 1.5."""
    model, q, v = ZOO["stopped_arm"], np.array([0.7, 0.0, 0.0]), np.array([2.0, 0.0, 0.0])
    bare = dataclasses.replace(model, joints=[dataclasses.replace(joint, limit=None) for joint in model.joints])
    push = np.array([-(80.0 * 0.1 + 1.5 * 2.0), 0.0, 0.0])
    wanted = forward_dynamics(bare, q, v, push, formulation=formulation)
    assert largest(forward_dynamics(model, q, v, formulation=formulation) - wanted) < TIGHT * largest(wanted)
    needed = inverse_dynamics(bare, q, v, wanted)
    assert largest(inverse_dynamics(model, q, v, wanted) + push - needed) < TIGHT * largest(needed)


# --- outputs ----------------------------------------------------------------------------------------------------


@every_state
@every_pair
def test_recorded_outputs_are_the_motion_and_the_reactions(name: str, formulation: str, seed: int) -> None:
    """Position differentiated along the motion is velocity, then acceleration; also where motions are prescribed."""
    last = ZOO[name].links[-1]
    probe = Frame(body=last.body.name, name="probe", position=(0.3, -0.2, 0.4), attitude=(0.1, 0.7, -0.5, 0.5))
    motions = [
        Output(name=key, of="probe", quantity=key)
        for key in ("position", "velocity", "acceleration", "angular_velocity")
    ]
    outputs = [*motions, Output(name="reaction", of=last.joint.name, quantity="reaction")]
    model = dataclasses.replace(ZOO[name], frames=[*ZOO[name].frames, probe], outputs=outputs)
    x = Instant(name, seed, formulation, model)
    x.tau = np.zeros(len(x.v))
    x.q, x.v = _on_signals(x)
    y = np.concatenate([x.q, x.v, np.zeros(int(x.handle.system.world[0].n_z))])
    x.handle.start_phase(y)
    phases = Phases(np.zeros(1), x.handle.work.phase[None, :].copy())
    found = recorded_outputs(x.handle, np.array([TIME]), y[None, :], np.zeros((1, 0)), phases)
    vdot, reactions = x.forward(), x.reactions()
    k = x.handle.packed.frame_rows["probe"]
    start = frames_of(x.handle, x.q, x.v)

    def moved(h: float) -> np.ndarray:
        return frames_of(x.handle, advance(x.model, x.q, x.v, vdot, h), x.v).p[k]

    step = time_scale(x.v, vdot)
    velocity, acceleration = derivatives(moved, step)
    assert largest(found["position"][0] - start.p[k]) < TIGHT * (1.0 + largest(start.p))
    assert largest(found["angular_velocity"][0] - start.spin[k]) < TIGHT * (1.0 + largest(start.spin))
    assert largest(found["velocity"][0] - velocity) < SMOOTH * (1.0 + largest(velocity))
    # second differences: rounding of positions over the square of the smallest step
    rounding = 20.0 * np.finfo(float).eps * largest(start.p[k]) / (step / 8) ** 2
    assert largest(found["acceleration"][0] - acceleration) < 1e-8 * (1.0 + largest(acceleration)) + rounding
    assert largest(found["reaction"][0] - reactions[-1]) < TIGHT * (1.0 + largest(reactions))


def _on_signals(x: Instant) -> tuple[np.ndarray, np.ndarray]:
    """The state with prescribed coordinates put on their signals."""
    q, v = x.q.copy(), x.v.copy()
    x.forward()
    dofs, signals = x.handle.system.dofs, x.handle.work.signals
    for j in np.flatnonzero(x.driven):
        q[dofs[j].q], v[j] = signals[dofs[j].motion].s, signals[dofs[j].motion].sdot
    return q, v


# --- planar models take a shorter way -----------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", [row.name for row in FORMULATIONS if "tree" in row.supports])
@pytest.mark.parametrize("seed", range(25))
def test_planar_recursion_equals_the_spatial_one(seed: int, formulation: str) -> None:
    """Turns about z: what points out of the plane changes reactions, never the motion or its drives."""
    rng = np.random.default_rng(seed)
    model = planar_model(rng, int(rng.integers(1, 9)))
    q, v = rng.normal(size=len(model.coordinates)), rng.normal(size=len(model.velocities))
    tau, t = rng.normal(size=len(v)), 0.4
    flat, full = Prepared(model, formulation), Prepared(model, formulation)
    assert flat.system.world[0].uses_planar
    full.system.world[0].uses_planar = 0
    vdot, wanted = flat.forward_dynamics(q, v, tau, t), full.forward_dynamics(q, v, tau, t)
    scale = 1.0 + np.max(np.abs(wanted), initial=0.0)
    assert np.max(np.abs(vdot - wanted), initial=0.0) < TIGHT * scale
    forces = flat.work.dofs.constraint_force - full.work.dofs.constraint_force
    assert np.max(np.abs(forces), initial=0.0) < TIGHT * scale
    assert np.max(np.abs(flat.reactions(q, v, tau, t) - full.reactions(q, v, tau, t))) < TIGHT * scale
    assert flat.work.power == pytest.approx(full.work.power, abs=TIGHT * scale)
