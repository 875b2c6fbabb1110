"""What the sections of a beam carry, along recorded rows: forces and moments, strains, stress.

A strain that the beam's shapes have gives its force by the law of the material. A strain that they rule out (no stretch
modes, no modes of a plane, no torsion modes, shear after Euler and Bernoulli) has no law; its force is what the motion
of all that lies outboard needs: inertia, gravity, loads, springs and joints there."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.beams.families import beam_shapes
from pliant.beams.piece_basis import gauss
from pliant.beams.sampling import strains_at
from pliant.engine.prepared import Prepared
from pliant.errors import ModelError
from pliant.model.contact_points import contact_points
from pliant.model.flexible import NO_FIBRE, Beam
from pliant.model.model import Model
from pliant.model.sections import beam_values, breakpoints
from pliant.model.stations import with_stations
from pliant.model.tree import find_frame
from pliant.system.phases import Phases
from pliant.system.tables import OUTPUT, Quantity, rows

Array = NDArray[np.float64]

WIDTH = {Quantity.MOTION: 21, Quantity.LOAD: 3, Quantity.REACTION: 6, Quantity.PUSH: 6, Quantity.PULL: 9}
MAX_ROWS = 256  # at a time


def section_outputs(handle: Prepared, t: Array, y: Array, inputs: Array, phases: Phases) -> dict[str, Array]:
    """The model's outputs that are quantities of sections, each (rows, columns)."""
    found: dict[str, Array] = {}
    asked = [(output, find_frame(handle.model, output.of)) for output in handle.model.outputs if output.is_in_beam]
    for beam in dict.fromkeys(frame.body for _, frame in asked):
        own = [(output, frame) for output, frame in asked if frame.body == beam]
        sections = Sections(handle, beam, np.array([frame.position[0] for _, frame in own]))
        forces = sections.forces(t, y, inputs, phases)
        found |= {output.name: sections.values(output.quantity, forces)[:, k] for k, (output, _) in enumerate(own)}
    return found


class Sections:
    """Some sections of one beam, at places x [m]."""

    def __init__(self, handle: Prepared, name: str, x: Array) -> None:
        beam = next(beam for beam in handle.model.beams if beam.name == name)
        self.beam, self.x = beam, np.clip(x, 0.0, beam.length)
        self._modes = next(link.q_modes for link in handle.model.links if link.body is beam)
        self._strain, self._rigidity = strains_at(beam, beam_shapes(beam), self.x)
        n_y, n_z, n_x, n_t = beam.families
        has_law = (n_x, n_y and beam.has_shear, n_z and beam.has_shear, n_t, n_z, n_y)
        self._ruled_out = [k for k, has in enumerate(has_law) if not has]
        self._handle = handle

    def forces(self, t: Array, y: Array, inputs: Array, phases: Phases) -> Array:
        """(rows, places, 6): N, Vy, Vz, T, My, Mz by what lies outboard on what lies inboard, section axes [N, N m]."""
        strain = np.einsum("imn,rm->irn", self._strain, y[:, self._modes])
        bend_y, shear_y, bend_z, shear_z, stretch, twist = strain * self._rigidity[:, None, :]
        # bending z rotates the sections about -y
        out = np.stack([stretch, shear_y, shear_z, twist, -bend_z, bend_y], axis=-1)
        if self._ruled_out:
            for first in range(0, len(t), MAX_ROWS):
                some = slice(first, first + MAX_ROWS)
                needed = self._outboard.forces(t[some], y[some], inputs[some], phases)
                out[some][..., self._ruled_out] = needed[..., self._ruled_out]
        return out

    @cached_property
    def _outboard(self) -> _Outboard:
        return _Outboard(self._handle, self.beam, self.x)

    def bending(self, y: Array) -> Array:
        """(rows, places, 2): My and Mz by the law of the material, 0 in a plane that does not bend [N m]."""
        strain = np.einsum("imn,rm->irn", self._strain, y[:, self._modes]) * self._rigidity[:, None, :]
        return np.stack([-strain[2], strain[0]], axis=-1)

    def values(self, quantity: str, forces: Array) -> Array:
        """(rows, places, columns) of a quantity."""
        if quantity == "section":
            return forces
        N, _, _, T, My, Mz = np.moveaxis(forces, -1, 0)
        values = beam_values(self.beam, self.x)
        axial, twist, y, z = N / values.stretch, T / values.twist, My / values.bend_z, Mz / values.bend_y
        outer_y, outer_z = values.section.outer_y, values.section.outer_z
        if outer_y is None or outer_z is None:
            raise ModelError(f"beam {self.beam.name!r}: {NO_FIBRE}")
        at_y, at_z = np.abs(z) * outer_y, np.abs(y) * outer_z
        largest = np.abs(axial) + (np.hypot(at_y, at_z) if values.section.is_round else at_y + at_z)
        if quantity == "stress":
            return np.asarray(self.beam.material.young * largest[..., None])
        return np.stack([axial, y, z, twist, largest], axis=-1)


class _Outboard:
    """The wrench that the motion of all beyond a section needs: sums over places, joints, loads, contacts and springs
    on the beam."""

    def __init__(self, handle: Prepared, beam: Beam, x: Array) -> None:
        model = handle.model
        nodes, self._dm, self._rotary = _masses(beam, x)
        self._cuts, self._gravity = x, np.array(model.gravity)
        row = next(i for i, link in enumerate(model.links) if link.body is beam)
        children = [i for i, link in enumerate(model.links) if link.parent == row]
        load_frames = [find_frame(model, load.frame) for load in model.loads]
        loads = [k for k, frame in enumerate(load_frames) if frame.body == beam.name]
        self._couples = [model.loads[k].kind == "couple" for k in loads]
        along, names = with_stations(model, {beam.name: [*x, *nodes]})
        self._handle = Prepared(along, handle.method.name, closure=handle.closure)
        frames = self._handle.packed.frame_rows
        asked = [(Quantity.MOTION, frames[name]) for name in names[beam.name]]
        asked += [(Quantity.MOTION, i) for i in children]  # a body's own frame has its row
        asked += [(Quantity.MOTION, int(self._handle.system.loads[k].frame)) for k in loads]
        self._moving = len(asked)
        pushes = _pushes(model, beam.name)
        self._signs = np.array([sign for _, sign, _ in pushes])
        asked += [(Quantity.REACTION, i) for i in children] + [(Quantity.LOAD, k) for k in loads]
        pulls = _pulls(model, beam.name)
        self._ends = [end for _, end, _ in pulls]
        asked += [(Quantity.PUSH, k) for k, _, _ in pushes] + [(Quantity.PULL, k) for k, _, _ in pulls]
        self._rows = _output_rows(asked)
        places = [*nodes, *(model.links[i].joint_frame.position[0] for i in children)]
        places += [load_frames[k].position[0] for k in loads] + [place for _, _, place in (*pushes, *pulls)]
        # what sits at the section itself counts as outboard
        self._is_outboard = np.array(places) >= x[:, None] - 1e-12 * beam.length

    def forces(self, t: Array, y: Array, inputs: Array, phases: Phases) -> Array:
        """(rows, sections, 6): force and moment by what lies outboard, section axes."""
        raw = self._handle.record(self._rows, t, y, inputs, phases)
        moving, rest = np.split(raw, [21 * self._moving], axis=1)
        moving = moving.reshape(len(t), self._moving, 21)
        R, p, a, w, al = (
            moving[..., :9].reshape(len(t), self._moving, 3, 3),
            *(moving[..., k : k + 3] for k in (9, 12, 15, 18)),
        )
        n, n_nodes, n_loads = len(self._cuts), len(self._dm), len(self._couples)
        origin = p[:, :1]
        p = p - origin
        of_mass = slice(n, n + n_nodes)
        force = self._dm[:, None] * (a[:, of_mass] - self._gravity)
        J = np.einsum("rnij,nj,rnkj->rnik", R[:, of_mass], self._rotary, R[:, of_mass])
        omega = w[:, of_mass]
        moment = (J @ al[:, of_mass, :, None])[..., 0] + np.cross(omega, (J @ omega[..., None])[..., 0])
        n_pushes, n_pulls = len(self._signs), len(self._ends)
        last = rest.shape[1] - 9 * n_pulls
        before = last - 6 * n_pushes
        joints, given, pushed, pulled = np.split(rest, [before - 3 * n_loads, before, last], axis=1)
        joints, given = joints.reshape(len(t), -1, 2, 3), given.reshape(len(t), n_loads, 3)
        pushed, pulled = pushed.reshape(len(t), n_pushes, 2, 3), pulled.reshape(len(t), n_pulls, 3, 3)
        # on the second end of a spring the force is the reverse
        pull = (2.0 * np.array(self._ends).reshape(-1, 1) - 1.0) * pulled[..., 0, :]
        push = np.concatenate([-self._signs[:, None] * pushed[..., 0, :], pull], axis=1)
        pulled_at = pulled[:, np.arange(n_pulls), 1 + np.array(self._ends, np.int64)]
        R_child = R[:, n + n_nodes : self._moving - n_loads]
        is_couple = np.array(self._couples, dtype=bool)[:, None]
        forces = [force, (R_child @ joints[..., 0, :, None])[..., 0], np.where(is_couple, 0.0, -given), push]
        moments = [moment, (R_child @ joints[..., 1, :, None])[..., 0], np.where(is_couple, -given, 0.0), 0.0 * push]
        all_forces = np.concatenate(forces, axis=1)
        where = np.concatenate([p[:, n:], pushed[..., 1, :] - origin, pulled_at - origin], axis=1)
        all_moments = np.concatenate(moments, axis=1) + np.cross(where, all_forces)
        F, M = self._is_outboard @ all_forces, self._is_outboard @ all_moments
        M = M - np.cross(p[:, :n], F)
        return -np.concatenate([np.einsum("rnji,rnj->rni", R[:, :n], part) for part in (F, M)], axis=-1)


def _pushes(model: Model, beam: str) -> list[tuple[int, float, float]]:
    """(contact row, sign, x) of every contact that pushes the beam: at its points, and on planes it carries."""
    found, row = [], 0
    for contact in model.contacts:
        plane = find_frame(model, contact.plane.place)
        for point in contact_points(model, contact):
            found += [
                (row, sign, frame.position[0])
                for sign, frame in ((1.0, point.frame), (-1.0, plane))
                if frame.body == beam
            ]
            row += 1
    return found


def _pulls(model: Model, beam: str) -> list[tuple[int, int, float]]:
    """(spring, which end, x) of every end of a spring on the beam."""
    ends = [
        (k, end, find_frame(model, place))
        for k, spring in enumerate(model.springs)
        for end, place in enumerate((spring.first, spring.second))
    ]
    return [(k, end, frame.position[0]) for k, end, frame in ends if frame.body == beam]


def _masses(beam: Beam, x: Array) -> tuple[Array, Array, Array]:
    """Places, masses and inertias (n, 3) of the rotating sections that stand for the beam beyond the first of x."""
    ends = np.concatenate([x, beam.length * breakpoints(beam.section), [beam.length]])
    edges = np.unique(ends[ends >= x.min()]) / beam.length
    highest = beam_shapes(beam).highest
    pieces = [gauss((a, b), 6 + int(np.ceil(8 * highest * (b - a)))) for a, b in pairwise(edges.tolist())]
    nodes = beam.length * np.concatenate([np.zeros(0), *(xi for xi, _ in pieces)])
    weights = beam.length * np.concatenate([np.zeros(0), *(w for _, w in pieces)])
    values = beam_values(beam, nodes)
    rotary = (values.rotary * weights).T if beam.rotary != "none" else np.zeros((len(nodes), 3))
    lumps = [one for one in beam.point_masses if one.x >= x.min()]
    return (
        np.concatenate([nodes, [one.x for one in lumps]]),
        np.concatenate([weights * values.mass, [one.mass for one in lumps]]),
        np.concatenate([rotary, np.array([one.inertia for one in lumps]).reshape(len(lumps), 3)]),
    )


def _output_rows(asked: list[tuple[Quantity, int]]) -> Any:
    """OUTPUT rows of what is asked for, one after the other."""
    out = rows(len(asked), OUTPUT)
    out.quantity, out.index = [quantity for quantity, _ in asked], [index for _, index in asked]
    out.count = [WIDTH[quantity] for quantity, _ in asked]
    out.column = np.cumsum(out.count) - out.count
    return out
