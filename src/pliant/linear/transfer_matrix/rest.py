"""Where a model rests, and what of it transfer matrices cannot take: said before anything is computed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.arguments import as_state
from pliant.engine.prepared import prepare
from pliant.errors import ModelError, SimulationError
from pliant.linear.transfer_matrix.chain import Chain, division
from pliant.linear.transfer_matrix.joint_motions import place
from pliant.linear.transfer_matrix.static_forces import OTHERS, Couple, Force, Rest
from pliant.model.flexible import Beam, TaperedSection
from pliant.model.joints import Joint
from pliant.model.messages import listed
from pliant.model.model import Model
from pliant.model.rigid_twin import rigid_twin
from pliant.model.signals import Constant
from pliant.model.tree import Link, find_frame, model_size
from pliant.queries.equilibrium import equilibrium

Array = NDArray[np.float64]

AT_REST = 1e-7  # of the largest force in a joint: what may be left there


def check(model: Model, is_damped: bool) -> None:
    """A message where the method cannot take the model."""
    for problem in _problems(model, is_damped):
        raise ModelError(f"transfer: {problem}")


def _problems(model: Model, is_damped: bool) -> Iterator[str]:
    if model.loops:
        names = listed([loop.name for loop in model.loops])
        yield f"the model has closed loops ({names}); transfer matrices take chains and branches; loops: {OTHERS}"
    if model.springs:
        names = listed([spring.name for spring in model.springs])
        yield f"the model has springs between places ({names}), which close loops of force; take {OTHERS}"
    for joint in model.joints:
        frictions = [one for one in joint.each("friction") if one not in (None, "none")] if joint.friction else []
        if joint.transmission is not None and joint.transmission.friction is not None:
            frictions.append(joint.transmission.friction)
        if frictions and is_damped:
            yield (
                f"joint {joint.name!r} has friction, which is no spring and no damper; leave dampers and friction out "
                f"(is_damped=False, --undamped), or ask {OTHERS}, which know whether it sticks"
            )
    for link in model.links:
        if isinstance(link.body, Beam) and link.body.n_modes:
            yield from (f"beam {link.body.name!r} {problem}" for problem in _beam_problems(link.body, link, is_damped))


def _beam_problems(beam: Beam, link: Link, is_damped: bool) -> Iterator[str]:
    if isinstance(beam.section, TaperedSection):
        yield (
            "has a tapered section; its waves have no closed form: divide it into uniform beams welded together, or "
            f"take assumed modes: {OTHERS}"
        )
    damping = beam.damping
    without = f"; give stiffness_time instead, leave all dampers out (is_damped=False, --undamped), or ask {OTHERS}"
    if is_damped and damping.ratio:
        yield f"has a damping ratio, which belongs to assumed modes, not to a continuous beam{without}"
    if is_damped and damping.air:
        yield f"is damped by air as its shapes move against the body frame, which no section knows{without}"
    if is_damped and damping.kelvin_voigt and beam.has_shear and any(beam.families[:2]):
        yield f"has Kelvin-Voigt damping of the curvature of its axis, beside Timoshenko's shear{without}"
    for plane, axis in ((beam.bending_y, 2), (beam.bending_z, 1)):
        if plane is None or not plane.numbers or plane.ends[0] == "c" or _rotates_about(link.joint, axis):
            continue
        yield (
            f'has shapes with a start that tilts (ends "{plane.ends}") on a {link.joint.kind} joint that holds it; '
            "give it a joint that rotates there, or clamped shapes"
        )


def _rotates_about(joint: Joint, axis: int) -> bool:
    """Whether a joint leaves the child free to rotate about one of its axes."""
    at = place(joint, np.array(joint.start, dtype=float))
    turns = at.R.T @ at.S[3:]
    wanted = np.eye(3)[axis]
    return bool(np.linalg.norm(turns @ np.linalg.pinv(turns) @ wanted - wanted) < 1e-9) if turns.size else False


def find_rest(model: Model, q: ArrayLike | None, t: float, is_damped: bool) -> tuple[Rest, tuple[str, ...]]:
    """The configuration meant (default: rest next to the start), what acts there, and remarks on what is left out."""
    check(model, is_damped)
    start = model.q0 if q is None else as_state(model, q, np.zeros(len(model.velocities)), ("q", "v"))[0]
    start, motor, forces, couples = _acting(model, start.copy(), t)
    bent = [link for link in model.links if np.any(start[link.q_modes])]
    if q is not None and bent:
        raise ModelError(
            f"transfer: q bends beam {bent[0].body.name!r}; transfer matrices take beams straight: give 0 for its "
            f"modes, or ask about the bent state: {OTHERS}"
        )
    for link in bent:
        start[link.q_modes] = 0.0
    rest = Rest(start, motor, forces, couples)
    left = _left(model, rest)
    if left and q is None:
        rest = Rest(_nearby(model, start), motor, forces, couples)
        left = _left(model, rest)
    if left:
        name, force = left
        without = " without what its contacts press" if model.contacts else ""
        raise ModelError(
            f"transfer: the state is not one of rest{without}: {name!r} is pulled with {force:.4g} N or N m; give a q "
            f"at rest (pliant.equilibrium), a spring, or hold the joint by a motion; about any state: {OTHERS}"
        )
    return rest, tuple(_remarks(model, rest, is_damped))


def _remarks(model: Model, rest: Rest, is_damped: bool) -> Iterator[str]:
    beams = [beam for beam in model.beams if beam.n_modes]
    if beams and (np.any(model.gravity) or rest.forces or rest.couples):
        yield (
            "beams are taken straight: static forces act on their small motions (axial force, weight of what hangs on "
            "them) but do not bend them first"
        )
    for beam in beams:
        for plane in (beam.bending_y, beam.bending_z):
            if plane is not None and plane.numbers and plane.ends[1] != "f":
                yield (
                    f'beam {beam.name!r}: its shapes hold the tip (ends "{plane.ends}"); here only joints do, the tip '
                    "is free to move"
                )
                break
    if model.contacts:
        yield "contacts are left out: as if nothing touched"
    if model.controllers:
        yield "controllers are off"
    if not is_damped:
        yield "dampers and friction are left out"


def _nearby(model: Model, start: Array) -> Array:
    """Rest next to a start, beams straight."""
    twin = rigid_twin(model) if model.has_modes else model
    columns = [model.coordinates.index(name) for name in twin.coordinates]
    q = start.copy()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what nothing holds shows as frequency 0
            q[columns] = equilibrium(twin, start[columns])
    except SimulationError as error:
        raise ModelError(f"transfer: {error}") from None
    return q


def _left(model: Model, rest: Rest) -> tuple[str, float] | None:
    """The free joint that a force is left at, and the force."""
    chain = Chain(model, rest, division(model, rest, 0.0))
    weight = sum(link.body.total_mass for link in model.links) * float(np.linalg.norm(model.gravity))
    largest = max([weight * max(model_size(model), 1.0), *(part for _, _, part in chain.residuals)], default=0.0)
    worst = max(chain.residuals, key=lambda row: abs(row[1]), default=("", 0.0, 0.0))
    return (worst[0], worst[1]) if abs(worst[1]) > AT_REST * largest else None


def _acting(model: Model, q: Array, t: float) -> tuple[Array, Array, tuple[Force, ...], tuple[Couple, ...]]:
    """q with prescribed joints on their signals, motor torques on the joint side, and loads: forces and couples."""
    motor, motion, loads = _signal_values(model, t)
    for link in model.links:
        for k, (gear, is_prescribed) in enumerate(zip(link.joint.each("gear"), link.joint.driven, strict=True)):
            motor[link.v + k] *= gear
            if not is_prescribed:
                continue
            q[link.q + k], rate, second = motion[link.v + k]
            if rate or second:
                raise ModelError(
                    f"transfer: joint {link.joint.name!r} moves at t = {t:g} s (rate {rate:.4g}, its rate "
                    f"{second:.4g}); transfer matrices need rest; about motion (t=..): {OTHERS}"
                )
    forces, couples = [], []
    for load, vector in zip(model.loads, loads, strict=True):
        if not np.any(vector):
            continue
        frame = find_frame(model, load.frame)
        name = load.name or frame.name or frame.body
        if load.kind == "couple":
            couples.append(Couple(frame, vector, load.axes, name))
        elif load.axes == "body":
            raise ModelError(
                f"transfer: load {name!r} is a force that follows its body, which has no potential energy; leave it "
                f"out, {OTHERS} take it"
            )
        else:
            forces.append(Force(frame, vector))
    return q, motor, tuple(forces), tuple(couples)


def _signal_values(model: Model, t: float) -> tuple[Array, Array, Array]:
    """At t: of motors (n_v), of motions with two rates (n_v, 3), of loads (loads, 3). Kernels only for what varies."""
    motors = [signal for link in model.links for signal in (*link.joint.each("motor"), *(None,) * link.body.n_modes)]
    motions = [signal for link in model.links for signal in (*link.joint.each("motion"), *(None,) * link.body.n_modes)]
    loads = [signal for load in model.loads for signal in (load.x, load.y, load.z)]
    of_motors, of_motions, of_loads = np.zeros(len(motors)), np.zeros((len(motions), 3)), np.zeros(len(loads))
    if all(one in (None, "free") or isinstance(one, Constant) for one in (*motors, *motions, *loads)):
        of_motors[:] = [_constant(one) for one in motors]
        of_motions[:, 0] = [_constant(one) for one in motions]
        of_loads[:] = [_constant(one) for one in loads]
        return of_motors, of_motions, of_loads.reshape(-1, 3)
    handle = prepare(model).copy()
    still = np.zeros(len(motors))
    handle.inverse_dynamics(model.q0, still, still, t)
    signals = handle.work.signals
    for j, dof in enumerate(handle.system.dofs):
        if dof.motor >= 0:
            of_motors[j] = signals[dof.motor].s
        if dof.motion >= 0:
            row = signals[dof.motion]
            of_motions[j] = row.s, row.sdot, row.sddot
    rows = np.concatenate([load.signal for load in handle.system.loads]) if loads else np.zeros(0, int)
    of_loads[:] = [signals[row].s if row >= 0 else 0.0 for row in rows]
    return of_motors, of_motions, of_loads.reshape(-1, 3)


def _constant(signal: Any) -> float:
    return float(signal.value) if isinstance(signal, Constant) else 0.0
