"""A model as stations: places joined by joints, rigid links and pieces of beams, for small motions about rest.

A station has a displacement x (translation and rotation vector, world axes). It follows that of its parent and the
coordinates e of what joins them: x = X x_parent + G e. Forces on (x_parent, e) of the joint or piece itself are
(K + C s + M s^2)(x_parent, e), or those of a beam's piece; a station's own inertia adds (K + M s^2) x.

Static forces (gravity, constant loads, springs that hold them) act on small motions by second-order displacements:
    d = d_P + phi_P x r + rho + 1/2 phi_P x (phi_P x r) + phi_P x rho,   phi = phi_P + psi + 1/2 phi_P x psi + psi_2
with rho, psi translation and rotation of the joint, psi_2 the second order of its own. With g the derivative of all
potential energy outboard along x, they add the second derivatives of g . (d, phi)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.linear.transfer_matrix.beam_elements import WAVE, BeamPiece, beam_families, wave_number
from pliant.linear.transfer_matrix.joint_motions import place, skew, spring
from pliant.linear.transfer_matrix.static_forces import OTHERS, Couple, Rest, limit_spring, transmission_spring
from pliant.model.bodies import Frame
from pliant.model.flexible import Beam
from pliant.model.model import Model
from pliant.model.sections import beam_values
from pliant.model.tree import Link, find_frame

Array = NDArray[np.float64]

MAX_PIECES = 20_000  # of one beam
LOADED_PIECES = 32  # of a beam that static forces go through, at least
SAME_PLACE = 1e-12  # of a beam's length
PARALLEL = 1e-9  # sine of the angle between directions that are one
EPS = 1e-12  # by which a number may exceed a whole one
WORLD = -1  # number of the station that stands still


@dataclass
class Station:
    """A place with its inertia, and what joins it to its parent: n coordinates e, those in `held` prescribed."""

    parent: int
    X: Array  # (6, 6)
    G: Array  # (6, n)
    held: NDArray[np.int64]
    piece: int = -1  # of a beam: number in Chain.pieces
    K: Array = field(init=False)  # (6 + n, 6 + n) of (x_parent, e), K + C s + M s^2
    C: Array = field(init=False)
    M: Array = field(init=False)
    g_joint: Array = field(default_factory=lambda: np.zeros(6))  # of what joins: gravity of a beam's piece
    own_K: Array = field(default_factory=lambda: np.zeros((6, 6)))
    own_M: Array = field(default_factory=lambda: np.zeros((6, 6)))
    g: Array = field(default_factory=lambda: np.zeros(6))  # derivative of the potential energy along x

    def __post_init__(self) -> None:
        size = 6 + self.n
        self.K, self.C, self.M = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))

    @property
    def n(self) -> int:
        return int(self.G.shape[1])

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """Coordinates e that are unknowns."""
        return np.setdiff1d(np.arange(self.n), self.held)

    @cached_property
    def T(self) -> tuple[Array, Array]:
        """[X G] and its transpose."""
        T = np.concatenate([self.X, self.G], axis=1)
        return T, T.T.copy()

    @cached_property
    def is_damped(self) -> bool:
        return bool(np.any(self.C))


@dataclass(frozen=True)
class Place:
    """A frame: the station that carries it, and its offset and attitude in world axes."""

    station: int
    offset: Array
    R: Array


class Chain:
    """The stations of a model at a configuration, beams divided as `division` says. is_damped: dampers count."""

    def __init__(self, model: Model, rest: Rest, divided: tuple[int, ...], is_damped: bool = True) -> None:
        self.model, self.rest, self.is_damped = model, rest, is_damped
        self.stations: list[Station] = []
        self.pieces: list[tuple[BeamPiece, Array]] = []  # with the rotation of displacements, beam to world
        self.bodies: list[int] = []  # station of every link's frame
        self.R: list[Array] = []  # attitude of every link
        self.p: list[Array] = []  # origin of every link
        self.nodes: dict[int, list[tuple[float, int]]] = {}  # of a beam's link: (x, station)
        self.coordinates: dict[str, tuple[int, int]] = {}  # of joints: name -> station, number of e
        self.residuals: list[tuple[str, float, float]] = []  # of free joints: name, force left at rest, largest part
        self._division = divided
        self._motor: Link | None = None  # the motor's side whose link comes next
        self._twists: dict[int, tuple[int, Array]] = {}  # of joints: their first e, second-order rotation
        self._at_rest: list[tuple[int, list[str], Array, Array]] = []  # of joints: station, names, springs, motors
        for i, link in enumerate(model.links):
            self._add_link(i, link)
        for force in rest.forces:
            at = self.place(force.frame)
            if at.station != WORLD:
                self._add_force(at.station, at.offset, force.value)
        for couple in rest.couples:
            self._add_couple(couple)
        self._add_static()

    @property
    def n_coordinates(self) -> int | None:
        """How many modes there are at most; None: without end, for beams."""
        return None if self.pieces else sum(len(one.free) for one in self.stations)

    @property
    def n_unheld(self) -> int | None:
        """How many motions nothing holds; None: static forces act, which may hold any, or make it fall over."""
        if any(np.any(one.own_K) or np.any(one.K[:6]) for one in self.stations):
            return None
        blocks = [one.K[6:, 6:][np.ix_(one.free, one.free)] for one in self.stations if one.piece < 0]
        return sum(len(block) - int(np.linalg.matrix_rank(block)) for block in blocks if len(block))

    @property
    def has_damping(self) -> bool:
        return any(one.is_damped for one in self.stations) or any(piece.stiffness_time for piece, _ in self.pieces)

    # --- places ---

    def place(self, where: str | Frame) -> Place:
        """A frame, named or given in place."""
        frame = find_frame(self.model, where)
        if frame.body == "world":
            return Place(WORLD, np.array(frame.position), frame.matrix)
        i = next(k for k, link in enumerate(self.model.links) if link.body.name == frame.body)
        station, offset = self._node(i, frame)
        return Place(station, offset, self.R[i] @ frame.matrix)

    def _node(self, i: int, frame: Frame) -> tuple[int, Array]:
        """The station of link i (-1: the world) that carries a frame, and the frame's offset from it, world axes."""
        if i < 0:
            return WORLD, np.array(frame.position)
        position = np.array(frame.position)
        if i not in self.nodes:
            return self.bodies[i], self.R[i] @ position
        x, station = min(self.nodes[i], key=lambda node: abs(node[0] - position[0]))
        return station, self.R[i] @ (position - np.array([x, 0.0, 0.0]))

    # --- links ---

    def _add_link(self, i: int, link: Link) -> None:
        R_parent, p_parent = (np.eye(3), np.zeros(3)) if link.parent < 0 else (self.R[link.parent], self.p[link.parent])
        parent, offset = self._node(link.parent, link.joint_frame)
        if link.transmission is not None:
            # the motor's side rotates alone: its mass is the parent's
            self._motor = link
            if parent != WORLD:
                self._add_mass(parent, offset, link.body.total_mass, np.zeros((3, 3)))
            self.bodies.append(parent)
            self.R.append(R_parent)
            self.p.append(p_parent)
            return
        R_joint = R_parent @ link.joint_frame.matrix
        at = place(link.joint, self.rest.q[link.q_slice])
        r = offset + R_joint @ at.p
        S = np.concatenate([R_joint @ at.S[:3], R_joint @ at.S[3:]])
        station = self._joined(parent, r, S, link)
        n = len(self.stations) - 1
        self._twists[n] = (station.n - S.shape[1], np.einsum("ij,jkl->ikl", R_joint, at.twist))
        self.bodies.append(n)
        self.R.append(R_joint @ at.R)
        self.p.append(p_parent + R_parent @ np.array(link.joint_frame.position) + R_joint @ at.p)
        if isinstance(link.body, Beam) and link.body.n_modes:
            self._add_beam(i, link.body)
        else:
            body = link.body
            self._add_mass(n, self.R[i] @ body.centre, body.total_mass, self._turned(i, body.inertia_about_centre))

    def _turned(self, i: int, tensor: Array) -> Array:
        return self.R[i] @ tensor @ self.R[i].T

    def _joined(self, parent: int, r: Array, S: Array, link: Link) -> Station:
        """A new station across a joint; a flexible one has its motor's coordinate first."""
        joint, q, v = link.joint, self.rest.q[link.q_slice], link.v_slice
        names = list(self.model.velocities[v])
        n = S.shape[1]
        gradient, K = spring(joint, q)
        C = np.diag(np.array(joint.each("damping"), dtype=float)) if n else np.zeros((0, 0))
        M = np.diag(np.array(joint.each("armature"), dtype=float) * np.array(joint.each("gear"), dtype=float) ** 2)
        motor = self.rest.motor[v].copy()
        for k, (force, stiffness, damping) in enumerate(limit_spring(joint, q)):
            gradient[k] += force
            K[k, k] += stiffness
            C[k, k] += damping
        held = [k for k, is_prescribed in enumerate(joint.driven) if is_prescribed]
        side, self._motor = self._motor, None
        if side is not None:
            assert side.transmission is not None
            names = [side.joint.name, *names]
            twist = float(self.rest.q[side.q] - q[0])
            torque, stiffness, damping = transmission_spring(side.transmission, twist)
            inertia = float(side.joint.each("armature")[0]) * float(side.joint.each("gear")[0]) ** 2
            pair = np.array([[1.0, -1.0], [-1.0, 1.0]])
            K, C = stiffness * pair + _padded(K), damping * pair + _padded(C)
            M = _padded(M) + np.diag([inertia, 0.0])
            gradient = np.array([torque, gradient[0] - torque])
            S = np.concatenate([np.zeros((6, 1)), S], axis=1)
            motor = np.concatenate([self.rest.motor[side.v_slice], motor])
            held = [0] if side.joint.driven[0] else []
        station = Station(parent, _shift(r), S, np.array(held, np.int64))
        station.K[6:, 6:], station.M[6:, 6:] = K, M
        station.C[6:, 6:] = C if self.is_damped else 0.0
        self.stations.append(station)
        number = len(self.stations) - 1
        for k, name in enumerate(names):
            self.coordinates[name] = (number, k)
        self._at_rest.append((number, names, gradient, motor))
        return station

    def _add_mass(self, station: int, c: Array, mass: float, inertia: Array) -> None:
        """A rigid body: mass centre at c from the station, inertia about it, world axes."""
        one, cross = self.stations[station], skew(c)
        one.own_M[:3, :3] += mass * np.eye(3)
        one.own_M[:3, 3:] -= mass * cross
        one.own_M[3:, :3] += mass * cross
        one.own_M[3:, 3:] += inertia - mass * cross @ cross
        if mass:
            self._add_force(station, c, mass * np.array(self.model.gravity))

    def _add_force(self, station: int, c: Array, force: Array) -> None:
        """A constant force, world axes, that acts c beside the station: V = -force . (d + exp(phi) c)."""
        one = self.stations[station]
        one.g -= np.concatenate([force, np.cross(c, force)])
        one.own_K[3:, 3:] += _rotated_force(c, -force)

    def _add_couple(self, couple: Couple) -> None:
        """A constant couple on a body that rotates about axes along it only: V = -couple . phi.

        Where the body rotates about an axis across, the work depends on the order of the rotations."""
        at = self.place(couple.frame)
        value = at.R @ couple.value if couple.axes == "body" else couple.value
        k = at.station
        while k != WORLD:
            across = np.linalg.norm(np.cross(value, self.stations[k].G[3:].T), axis=1)
            if np.any(across > PARALLEL * np.linalg.norm(value)):
                raise ModelError(
                    f"transfer: load {couple.load!r} is a couple on a body that rotates about an axis across it, where "
                    f"it has no potential energy; leave it out, {OTHERS} take it"
                )
            k = self.stations[k].parent
        if at.station != WORLD:
            self.stations[at.station].g[3:] -= value

    # --- beams ---

    def _add_beam(self, i: int, beam: Beam) -> None:
        families, L, R = beam_families(beam), beam.length, self.R[i]
        viscosity = beam.damping.kelvin_voigt / beam.material.young if beam.theory == "euler-bernoulli" else 0.0
        time = beam.damping.stiffness_time + viscosity if self.is_damped else 0.0
        start = self.bodies[i]
        inertia = sum((np.array(lump.inertia) for lump in beam.point_masses), np.zeros(3))
        if beam.rotary == "frame":
            inertia = inertia + beam_values(beam, np.zeros(1)).rotary[:, 0] * beam.length
        self._add_mass(start, np.zeros(3), 0.0, R @ np.diag(inertia) @ R.T)
        turn = np.asarray(np.kron(np.eye(2), R), float)
        self.nodes[i] = [(0.0, start)]
        places = sorted({0.0, L, *self._places_on(beam)})
        places = [x for k, x in enumerate(places) if k == 0 or x - places[k - 1] > SAME_PLACE * L]
        per_length = self._division[self.model.beams.index(beam)] / L
        for near, far in pairwise(places):
            count = max(1, int(np.ceil((far - near) * per_length * (1.0 - EPS))))
            piece = BeamPiece((far - near) / count, families, time)
            self.pieces.append((piece, turn))
            for k in range(count):
                self._add_piece(i, near + (far - near) * (k + 1) / count, beam)
        for lump in beam.point_masses:
            station, offset = self._node(i, Frame(beam.name, (lump.x, 0.0, 0.0)))
            self._add_mass(station, offset, lump.mass, np.zeros((3, 3)))

    def _places_on(self, beam: Beam) -> Iterator[float]:
        """Where something sits on a beam."""
        frames = [*self.model.frames, *(link.joint_frame for link in self.model.links)]
        frames += [find_frame(self.model, load.frame) for load in self.model.loads]
        yield from (min(max(float(f.position[0]), 0.0), beam.length) for f in frames if f.body == beam.name)
        yield from (lump.x for lump in beam.point_masses)

    def _add_piece(self, i: int, x: float, beam: Beam) -> None:
        piece, turn = self.pieces[-1]
        G = turn[:, list(piece.flexible)]
        n = G.shape[1]
        r = self.R[i][:, 0] * piece.length
        parent = self.nodes[i][-1][1]
        station = Station(parent, _shift(r), G, np.zeros(0, np.int64), len(self.pieces) - 1)
        weight = piece.families[0].mass * piece.length * np.array(self.model.gravity)
        station.g_joint = -np.concatenate([weight, np.cross(0.5 * r, weight)])
        station.K[3:6, 3:6] += _rotated_force(0.5 * r, -weight)
        # the mean deflection of the piece, as if it bent like a beam at rest
        mean = np.zeros((3, n))
        for k, component in enumerate(piece.flexible):
            if component < 3:
                mean[:, k] = 0.5 * turn[:3, component]
            elif component > 3:
                sign, across = (-1.0, 1) if component == 5 else (1.0, 2)
                mean[:, k] = sign * piece.length / 12.0 * turn[:3, across]
        coupling = skew(weight) @ mean
        station.K[3:6, 6:] += coupling
        station.K[6:, 3:6] += coupling.T
        self.stations.append(station)
        self.nodes[i].append((x, len(self.stations) - 1))

    # --- static forces ---

    def _add_static(self) -> None:
        """g of every station, tips first; what it does to small motions; what is left at free joints."""
        for k in range(len(self.stations) - 1, -1, -1):
            one = self.stations[k]
            gf, gn = one.g[:3], one.g[3:]
            if np.any(one.g):
                self._add_second_order(k, gf, gn)
            if one.parent != WORLD:
                self.stations[one.parent].g += one.X.T @ one.g + one.g_joint
        for number, names, gradient, motor in self._at_rest:
            one = self.stations[number]
            parts = np.array([one.G.T @ one.g, gradient, -motor])
            for j in one.free:
                # rest is known to a part of what a spring gives at a radian or metre
                largest = max(np.abs(parts[:, j]).max(), abs(one.K[6 + j, 6 + j]))
                self.residuals.append((names[j], float(parts[:, j].sum()), float(largest)))

    def _add_second_order(self, k: int, gf: Array, gn: Array) -> None:
        one = self.stations[k]
        r = np.array([one.X[1, 5], one.X[2, 3], one.X[0, 4]])
        one.K[3:6, 3:6] += _rotated_force(r, gf)
        coupling = -skew(gf) @ one.G[:3] - 0.5 * skew(gn) @ one.G[3:]
        one.K[3:6, 6:] += coupling
        one.K[6:, 3:6] += coupling.T
        if k in self._twists:
            first, twist = self._twists[k]
            one.K[6 + first :, 6 + first :] += np.einsum("i,ikl->kl", gn, twist)
        elif one.piece >= 0:
            self._add_tension(one, gf)

    def _add_tension(self, one: Station, gf: Array) -> None:
        """A piece that bends gets shorter along its axis."""
        piece, turn = self.pieces[one.piece]
        l = piece.length
        tension = -float((gf + 0.5 * one.g_joint[:3]) @ turn[:3, 0])
        for family in piece.families[:2]:
            if np.isfinite(family.stiffness):
                places = [6 + piece.flexible.index(component) for component in family.components]
                block = tension / (30.0 * l) * np.array([[36.0, -3.0 * l], [-3.0 * l, 4.0 * l * l]])
                one.K[np.ix_(places, places)] += block * np.outer(family.signs, family.signs)


def division(model: Model, rest: Rest, fastest: float, pieces: int = 1) -> tuple[int, ...]:
    """In how many pieces beams that deform are divided, for frequencies up to `fastest` [rad/s]; at least `pieces`."""
    least = max(pieces, LOADED_PIECES if np.any(model.gravity) or rest.forces else 1)
    found = []
    for beam in model.beams:
        waves = wave_number(beam_families(beam), fastest)
        if beam.length * waves > WAVE * MAX_PIECES:
            raise ModelError(
                f"beam {beam.name!r}: at {fastest:.3g} rad/s its waves are {2.0 * np.pi / waves:.2g} m long, far "
                "shorter than a beam theory holds for; ask for lower frequencies"
            )
        found.append(max(least, int(np.ceil(beam.length * waves / WAVE))))
    return tuple(found)


def _shift(r: Array) -> Array:
    """Displacement at r from a place, per displacement of the place."""
    X = np.eye(6)
    X[:3, 3:] = -skew(r)
    return X


def _padded(A: Array) -> Array:
    """With a row and a column of zeros before it."""
    out = np.zeros((len(A) + 1, len(A) + 1))
    out[1:, 1:] = A
    return out


def _rotated_force(c: Array, g: Array) -> Array:
    """Second derivatives along phi of g . exp(phi) c."""
    return np.asarray(0.5 * (np.outer(c, g) + np.outer(g, c)) - (c @ g) * np.eye(3))
