"""Modes as motions to look at: a model whose beams have shapes enough to bend as the continuous ones do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.beams.families import beam_shapes
from pliant.engine.motion import moved_along
from pliant.engine.prepared import prepare
from pliant.linear.transfer_matrix.free_motions import BeamShape, FreeMotions
from pliant.model.flexible import AxialShapes, Beam, Bending
from pliant.model.model import Model
from pliant.results.recording import Recording

Array = NDArray[np.float64]

SHAPES = 10  # polynomials of a family: enough for what one can see
AMPLITUDE = 0.1  # of the largest displacement [rad, model's size]
PERIODS, FRAMES = 3, 181  # of a film; two seconds a period, whatever the frequency


def picture_model(model: Model) -> Model:
    """The model with polynomials for the shapes of its beams."""
    bodies = tuple(_pictured(body) if isinstance(body, Beam) and body.n_modes else body for body in model.bodies)
    return replace(model, bodies=bodies, outputs=(), controllers=(), contacts=(), crossings=())


def _pictured(beam: Beam) -> Beam:
    y, z, stretch, torsion = (count > 0 for count in beam.families)
    bending, axial = Bending(SHAPES, family="polynomials"), AxialShapes(SHAPES, family="polynomials")
    return replace(
        beam,
        bending_y=bending if y else None,
        bending_z=bending if z else None,
        stretch=axial if stretch else AxialShapes(0),
        torsion=axial if torsion else AxialShapes(0),
        coupling="linear",
        damping=type(beam.damping)(),
        q0=None,
        v0=None,
    )


def film(found: FreeMotions, model: Model, k: int) -> Recording:
    """Mode k on the picture model."""
    shape = _shape(found, model, k)
    by_name = dict(zip(found.model.coordinates, found.q, strict=True))
    rest = np.array([by_name.get(name, 0.0) for name in model.coordinates])
    for link in model.links:
        rest[link.q_modes] = 0.0
    t = np.linspace(0.0, 2.0 * PERIODS, FRAMES)
    handle = prepare(model)
    q = np.array([moved_along(handle, rest, AMPLITUDE * (shape * np.exp(1j * np.pi * at)).real) for at in t])
    still = np.zeros((len(t), len(shape)))
    return Recording(model, t, q, still, {}, {}, (), "done", "", {}, {}, {}, np.zeros((len(t), 0)))


def _shape(found: FreeMotions, model: Model, k: int) -> NDArray[np.complex128]:
    """Of all velocities: joints as they move, shapes as they fit best."""
    joints = found.joint_shape(k)
    shape = np.array([joints.get(name, 0.0) for name in model.velocities], complex)
    for link in model.links:
        if link.body.n_modes:
            shape[link.v_modes] = _fitted(link.body, found.beam_shape(link.body.name, k))
    return shape


def _fitted(beam: Any, moved: BeamShape) -> NDArray[np.complex128]:
    """Modal coordinates of a beam's deflection against its first section."""
    x, L = moved.x, beam.length
    turn, away = moved.rotation - moved.rotation[0], moved.displacement - moved.displacement[0]
    away = away - np.cross(moved.rotation[0], np.outer(x, (1.0, 0.0, 0.0)))
    of = beam_shapes(beam)
    found = []
    # deflection and rotation of the sections; bending z rotates them about -y
    for shapes, y, r in ((of.y, away[:, 1], turn[:, 2]), (of.z, away[:, 2], -turn[:, 1])):
        if shapes:
            values = [one.at(x) for one in shapes]
            columns = np.concatenate([[one.y for one in values], [L * one.rotation for one in values]], axis=1).T
            found.append(np.linalg.lstsq(columns, np.concatenate([y, L * r]), rcond=None)[0])
    for shapes, y in ((of.stretch, away[:, 0]), (of.torsion, turn[:, 0])):
        if shapes:
            found.append(np.linalg.lstsq(np.array([one.at(x).y for one in shapes]).T, y, rcond=None)[0])
    return np.concatenate(found).astype(complex)
