"""Mistakes of a model that a run shows but does not fail on: nothing acts, degrees taken for radians, a body without
contact points, a servo that only switches; and those that the model shows by itself (model_warnings.py)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.diagnostics import WARNING, Diagnostic
from pliant.engine.prepared import prepare
from pliant.model.attitudes import attitude_matrix
from pliant.model.bodies import Body
from pliant.model.columns import command_columns
from pliant.model.contact_points import contact_points
from pliant.model.joints import Joint
from pliant.model.messages import listed
from pliant.model.model import Model
from pliant.model.signals import Constant, Cycloid, Ramp, Step
from pliant.model.tree import find_frame
from pliant.results.model_warnings import W_FIRST, model_warnings, w_first_words

if TYPE_CHECKING:
    from pliant.results.recording import Recording

Array = NDArray[np.float64]
AT_REST = 1e-9  # [rad/s, m/s]
PARALLEL = 1e-9  # sine of the angle between directions
MAX_ROWS = 400  # at which bodies are looked for below planes
MIN_FLIPS = 20  # from limit to limit in a row, at every sample
AT_LIMIT = 0.999  # of a command's limit


def pitfalls(recording: Recording) -> Iterator[Diagnostic]:
    """What a user should hear about, once per run."""
    found = [*model_warnings(recording.model), _idle_gravity(recording), *_degrees(recording)]
    found += [*_start_quaternions(recording), *_fallen_through(recording), *_flips(recording)]
    yield from (Diagnostic(WARNING, words) for words in found if words)


# --- nothing acts -------------------------------------------------------------------------------------------------


def _idle_gravity(recording: Recording) -> str:
    """Gravity along every hinge, as that of the defaults is, turns none."""
    model = recording.model
    moving = [link for link in model.links if link.joint.row.velocities]
    acts: list[Any] = [model.loads, model.springs, model.contacts, model.controllers]
    acts += [link.joint.motor or link.joint.motion for link in moving]
    if not moving or any(acts) or not any(model.gravity) or np.max(np.abs(recording.v), initial=0.0) > AT_REST:
        return ""
    if any(link.joint.kind != "revolute" for link in moving):
        return ""
    down = np.array(model.gravity) / np.linalg.norm(model.gravity)
    R = prepare(model).placements(recording.q[:1], [link.body.name for link in moving])[0][0]
    axes = [rotation @ np.array(link.joint.axis or (0, 0, 1)) for rotation, link in zip(R, moving, strict=True)]
    if any(np.linalg.norm(np.cross(axis, down)) > PARALLEL * np.linalg.norm(axis) for axis in axes):
        return ""
    gravity = ", ".join(f"{value:g}" for value in model.gravity)
    names = listed(link.joint.name for link in moving)
    return (
        f"nothing moves: gravity ({gravity}) is parallel to the axis of every hinge ({names}), and nothing else acts; "
        "in the x-y plane give gravity (0, -9.81, 0), or turn the axes"
    )


# --- degrees ------------------------------------------------------------------------------------------------------


def _degrees(recording: Recording) -> Iterator[str]:
    """Angles of hinges of more than a revolution, in whole or half numbers."""
    model = recording.model
    for link in (link for link in model.links if link.joint.kind == "revolute"):
        name = f"joint {link.joint.name!r}"
        angles = [*_angles(link.joint)]
        if len(recording.t) and recording.t[0] == 0.0 and recording.q[0, link.q] != link.joint.start[0]:
            angles.append(("q0 of the run", float(recording.q[0, link.q])))
        for what, angle in filter(_seem_degrees, angles):
            revolutions = f"{angle / (2.0 * math.pi):.3g} revolutions"
            yield f'{name}: {what} = {angle:g} is in radians, {revolutions}; did you mean "{angle:g} deg"?'
        for what, angle in filter(_seem_degrees, _goals(model, link.joint)):
            yield (
                f"{name}: {what} goes to {angle:g} rad, {angle / (2.0 * math.pi):.3g} revolutions; if degrees are "
                f"meant, give {math.radians(angle):.6g}"
            )


def _seem_degrees(given: tuple[str, float]) -> bool:
    return abs(given[1]) > 2.0 * math.pi and (2.0 * given[1]).is_integer()


def _goals(model: Model, joint: Joint) -> Iterator[tuple[str, float]]:
    """Values at which the motion of a hinge, and what its controllers follow, come to rest."""
    signals: list[tuple[str, Any]] = [("motion", signal) for signal in joint.each("motion")]
    for controller in model.controllers:
        if controller.law is not None and joint.name in controller.joints:
            kinds = {link.joint.name: len(link.joint.row.velocities) for link in model.links}
            first = sum(kinds.get(name, 1) for name in controller.joints[: controller.joints.index(joint.name)])
            count = sum(kinds.get(name, 1) for name in controller.joints)
            signals.append((f"reference of {controller.name!r}", controller.law.each("reference", count)[first]))
    for what, signal in signals:
        if isinstance(signal, Constant):
            yield what, signal.value
        elif isinstance(signal, (Step, Ramp, Cycloid)):
            yield what, signal.after


def _angles(joint: Joint) -> Iterator[tuple[str, float]]:
    yield "q0", joint.start[0]
    yield "rest", float(joint.each("rest")[0])
    for limit in joint.each("limit"):
        for end in ("lower", "upper"):
            angle = getattr(limit, end, None)
            if angle is not None:
                yield f"limit.{end}", angle


# --- attitudes ----------------------------------------------------------------------------------------------------


def _start_quaternions(recording: Recording) -> Iterator[str]:
    """A start of the run, not of the model, whose quaternion looks as if w stood first."""
    if not len(recording.t) or recording.t[0] != 0.0:
        return
    for link in recording.model.links:
        if link.joint.kind in ("spherical", "floating"):
            four = tuple(recording.q[0, link.q_slice][-4:].tolist())
            if four == W_FIRST != link.joint.start[-4:]:
                yield w_first_words(f"joint {link.joint.name!r}: q0 of the run")


# --- contacts -----------------------------------------------------------------------------------------------------


def _fallen_through(recording: Recording) -> Iterator[str]:
    """Bodies with a shape and without contact points whose mass centres pass through a plane of contact."""
    model, rows = recording.model, len(recording.t)
    known = {point.frame.body for contact in model.contacts for point in contact_points(model, contact)}
    known |= {find_frame(model, contact.plane.place).body for contact in model.contacts}
    bare = [link.body for link in model.links if isinstance(link.body, Body) and link.body.name not in known]
    bare = [body for body in bare if body.shape is not None]
    if not bare or not model.contacts or not rows:
        return
    chosen = np.unique(np.linspace(0, rows - 1, min(rows, MAX_ROWS)).astype(int))
    q = recording.q[chosen]
    R, p = prepare(model).placements(q, [body.name for body in bare])
    centres = p + (R @ np.array([body.centre for body in bare])[..., None])[..., 0]
    for contact in model.contacts:
        origin, normal = _plane(model, contact.plane, q)
        heights = np.einsum("rbi,ri->rb", centres - origin[:, None, :], normal)
        for k in np.flatnonzero((heights[0] > 0.0) & (np.min(heights, axis=0) < 0.0)):
            t = recording.t[chosen[int(np.argmax(heights[:, k] < 0.0))]]
            yield (
                f"body {bare[k].name!r} has passed through the plane of contact {contact.name!r} by t = {t:.4g} s: it "
                'has no contact point there; give the contact points on it, as points = "shapes" does'
            )


def _plane(model: Model, plane: Any, q: Array) -> tuple[Array, Array]:
    """A point of a plane and its normal, world axes, per row of q."""
    frame = find_frame(model, plane.place)
    R, p = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    if frame.body != "world":
        found = prepare(model).placements(q, [frame.body])
        R, p = found[0][:, 0], found[1][:, 0]
    normal = attitude_matrix(frame.attitude) @ np.array(plane.normal)
    normal = normal / np.linalg.norm(normal)
    return p + R @ (np.array(frame.position) + plane.offset * normal), R @ normal


# --- controllers --------------------------------------------------------------------------------------------------


def _flips(recording: Recording) -> Iterator[str]:
    """Commands that go from limit to limit at every sample."""
    table, column = recording.commands, 0
    if table is None or not recording.model.controllers:
        return
    names = [each.name for each in command_columns(recording.model)]
    widths = {link.joint.name: len(link.joint.row.velocities) for link in recording.model.links}
    widths |= {spring.name: 1 for spring in recording.model.springs}
    for controller in recording.model.controllers:
        count = sum(widths[name] for name in controller.joints)
        limits = np.broadcast_to(np.inf if controller.limit is None else np.array(controller.limit), count)
        for k, limit in enumerate(limits, column):
            t = _first_flips(table[:, 0], table[:, 1 + k], float(limit), controller.period)
            if t is not None:
                yield (
                    f"controller {controller.name!r}: {names[k]!r} goes from limit to limit at every sample from "
                    f"t = {t:.4g} s on: the loop is not stable at this period; give smaller gains or a shorter period, "
                    "and to a joint that drives a light or flexible link the armature of its motor"
                )
        column += count


def _first_flips(t: Array, command: Array, limit: float, period: float) -> float | None:
    """From when on a held command flips MIN_FLIPS times in a row."""
    held = np.flatnonzero(np.diff(command, prepend=np.nan) != 0.0)
    values, times = command[held], t[held]
    is_flip = (np.sign(values[1:]) * np.sign(values[:-1]) < 0.0) & (np.abs(values[1:]) >= AT_LIMIT * limit)
    is_flip &= (np.abs(values[:-1]) >= AT_LIMIT * limit) & (np.diff(times) < 1.5 * period)
    runs = np.convolve(is_flip, np.ones(MIN_FLIPS), "valid") if len(is_flip) >= MIN_FLIPS else np.zeros(0)
    first = np.flatnonzero(runs > MIN_FLIPS - 0.5)
    return float(times[first[0]]) if len(first) else None
