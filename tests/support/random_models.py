"""Random trees of every joint kind, random states, their twins in Pinocchio, and probes of compiled kinematics."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from pliant.engine.prepared import Prepared
from pliant.kernels._jit import QUERY, entry, kernel
from pliant.kernels.kinematics.joints import rates
from pliant.kernels.kinematics.tree import frame_placement, frame_velocity, move, place
from pliant.model.attitudes import AxisAngle
from pliant.model.bodies import Body, Frame
from pliant.model.joints import JOINT_KINDS, Joint
from pliant.model.model import Base, Load, Model
from pliant.model.signals import Constant, Sine
from pliant.model.tree import find_frame

KINDS = tuple(JOINT_KINDS)
BASES = ("none", "fixed", "planar", "floating")  # none: every body is carried by a joint, some of them by the world


def pinocchio() -> Any:
    """The library, or a skip with a reason; in CI (variable CI set) its absence is a failure."""
    if os.environ.get("CI"):
        return importlib.import_module("pinocchio")
    return pytest.importorskip("pinocchio", reason="pinocchio is not installed (pip install 'pliant[peers]')")


# --- models -----------------------------------------------------------------------------------------------------


def random_model(
    rng: np.random.Generator,
    n: int,
    *,
    base: str = "none",
    kinds: tuple[str, ...] = KINDS,
    root: str = "",
    is_chain: bool = False,
    has_armature: bool = True,
    n_loads: int = 0,
) -> Model:
    """n bodies with random parents, joint_frames, axes and inertias, declared in random order, a frame on each.

    root: kind of the first joint, if not any of kinds."""
    names = [f"body{i}" for i in range(n)]
    joints = []
    for i in range(0 if base == "none" else 1, n):
        first = -1 if base == "none" and not is_chain else 0
        parent = i - 1 if is_chain or i == 0 else int(rng.integers(first, i))
        joint_frame = _random_frame(rng, names[parent] if parent >= 0 else "world")
        kind = root if root and not joints else str(rng.choice(kinds))
        joints.append(_random_joint(rng, i, joint_frame, kind, has_armature))
    bodies = [random_body(rng, name) for name in names]
    frames = [_random_frame(rng, name, f"tip{i}") for i, name in enumerate(names)]
    if not is_chain:
        bodies = [bodies[i] for i in rng.permutation(n)]
    return Model(
        name=f"random-{n}-{base}",
        bodies=bodies,
        joints=joints,
        base=_random_base(rng, base),
        gravity=rng.normal(size=3) * 5.0,
        frames=[*frames, _random_frame(rng, "world", "mark")],
        loads=[_random_load(rng, f"tip{rng.integers(n)}") for _ in range(n_loads)],
    )


def random_body(rng: np.random.Generator, name: str) -> Body:
    """Offset mass centre; the inertia of some mass distribution with covariance per mass S: I = m (tr(S) 1 - S)."""
    mass = float(np.exp(rng.uniform(-1.0, 1.0)))
    L = np.diag(rng.uniform(0.1, 0.4, size=3)) + np.tril(rng.uniform(-0.15, 0.15, size=(3, 3)), -1)
    S = L @ L.T
    return Body(name=name, mass=mass, com=rng.uniform(-0.4, 0.4, size=3), inertia=mass * (np.trace(S) * np.eye(3) - S))


def random_quaternion(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def _random_frame(rng: np.random.Generator, body: str, name: str | None = None) -> Frame:
    return Frame(body=body, position=rng.uniform(-0.6, 0.6, size=3), attitude=random_quaternion(rng), name=name)


def _random_joint(rng: np.random.Generator, i: int, joint_frame: Frame, kind: str, has_armature: bool) -> Joint:
    row = JOINT_KINDS[kind]
    given: dict[str, Any] = {"axis": rng.normal(size=3)} if row.has_axis else {}
    if has_armature and row.velocities and rng.random() < 0.4:
        n = len(row.velocities)
        given |= {"armature": rng.uniform(0.0, 0.3, size=n), "gear": rng.uniform(0.5, 2.0, size=n)}
    return Joint(name=f"joint{i}", kind=kind, parent=joint_frame, child=f"body{i}", **given)


def _random_base(rng: np.random.Generator, base: str) -> Base:
    if base == "fixed":
        return Base(kind="fixed", position=rng.normal(size=3), attitude=random_quaternion(rng))
    return Base() if base == "none" else Base(kind=base)


def _random_load(rng: np.random.Generator, frame: str) -> Load:
    x, y, z = (Sine(amplitude=a, omega=w, phase=p, offset=b) for a, w, p, b in rng.normal(size=(3, 4)))
    kind, axes = rng.choice(["force", "couple"]), rng.choice(["world", "body"])
    return Load(frame=frame, x=x, y=y, z=z, kind=str(kind), axes=str(axes))


def planar_model(rng: np.random.Generator, n: int) -> Model:
    """A random tree in x-y: rotated joint frames, both senses of z, offsets and mass centres out of the plane."""
    bodies, joints, frames = [], [], []
    for i in range(n):
        com, spread = rng.normal(size=3), rng.uniform(0.1, 1.0, 3)
        inertia = np.diag(spread[[1, 0, 0]] + spread[[2, 2, 1]]) + 0.02 * (np.ones((3, 3)) - np.eye(3))
        bodies.append(Body(name=f"b{i}", mass=rng.uniform(0.5, 2.0), com=com, inertia=inertia))
        parent = int(rng.integers(-1, i)) if i else -1
        joint_frame = Frame(
            body=f"b{parent}" if parent >= 0 else "world",
            position=rng.normal(size=3),
            attitude=AxisAngle(axis=(0.0, 0.0, 1.0), angle=float(rng.normal())),
        )
        kind = str(rng.choice(["revolute", "revolute", "prismatic", "planar", "fixed"]))
        extras: dict[str, Any] = {}
        if kind == "revolute":
            extras = {"axis": (0.0, 0.0, float(rng.choice([-1.0, 1.0]))), "armature": 0.1 * float(rng.integers(0, 2))}
            if rng.random() < 0.25:
                extras["motion"] = Sine(amplitude=0.5, omega=2.0, phase=0.3)
        elif kind == "prismatic":
            extras = {"axis": (*rng.normal(size=2), 0.0), "stiffness": 3.0, "damping": 0.2}
        joints.append(Joint(name=f"j{i}", kind=kind, child=f"b{i}", parent=joint_frame, **extras))
        frames.append(Frame(name=f"f{i}", body=f"b{i}", position=rng.normal(size=3)))
    loads = [
        Load(frame=f"f{n - 1}", x=Constant(value=1.3), z=Constant(value=2.0)),
        Load(frame="f0", y=Constant(value=0.7), axes="body"),
        Load(frame="f0", z=Constant(value=-0.4), kind="couple"),
    ]
    return Model(name="flat", bodies=bodies, joints=joints, frames=frames, loads=loads, gravity=(1.0, -9.0, 2.0))


@dataclass(frozen=True)
class Case:
    """A named, repeatable random model with a state (q, v, vdot, tau) and a time."""

    name: str
    model: Model
    q: np.ndarray
    v: np.ndarray
    vdot: np.ndarray
    tau: np.ndarray
    t: float = 0.7


def random_state(model: Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """q (unit quaternions, beams bent by a few hundredths), v, vdot, tau."""
    q = rng.uniform(-2.0, 2.0, size=len(model.coordinates))
    for link in model.links:
        if link.joint.kind in ("spherical", "floating"):
            q[link.q_slice][-4:] = random_quaternion(rng)
        q[link.q_modes] *= 0.02
    v, vdot, tau = rng.normal(size=(3, len(model.velocities)))
    return q, v, 2.0 * vdot, 5.0 * tau


def make_case(name: str, seed: int, n: int, **options: Any) -> Case:
    rng = np.random.default_rng([seed, n])
    model = random_model(rng, n, **options)
    return Case(name, model, *random_state(model, rng))


def random_cases() -> list[Case]:
    """Trees on every base for n = 1..8, with loads; chains of each kind; ball chains, ground and space."""
    trees = [
        make_case(f"tree{n}-{base}", 100 + k, n, base=base, n_loads=int(n > 2))
        for n in range(1, 9)
        for k, base in enumerate(BASES)
    ]
    chains = [
        make_case(f"chain4-{kind}", 200 + k, 4, base="none", kinds=(kind,), is_chain=True, n_loads=2)
        for k, kind in enumerate(KINDS)
        if kind != "fixed"
    ]
    grounds = {"ground": {}, "space": {"base": "floating"}, "joint_frame": {"root": "floating"}}
    plain = {"kinds": ("spherical",), "is_chain": True, "has_armature": False}
    balls = [
        make_case(f"balls{n}-{where}", 300 + k, n, n_loads=2 * (n % 2), **plain, **ground)
        for n in range(1, 9)
        for k, (where, ground) in enumerate(grounds.items())
    ]
    return trees + chains + balls


# --- twins in Pinocchio -----------------------------------------------------------------------------------------


class Twin:
    """The same robot in Pinocchio: joint index[i] carries body i of model.links, so all wrenches can be compared.

    Pinocchio's crba takes for granted that the joints of a subtree follow each other, so they are added depth first.
    Fixed joints become revolute ones that never move; armature and loads are added here, outside Pinocchio.
    Velocities: v_pin = A(q) v; Pinocchio's planar joint measures them in the moving axes, pliant's in the parent's."""

    def __init__(self, model: Model) -> None:
        self.pin, self.model = pinocchio(), model
        pin = self.pin
        self.robot = pin.Model()
        self.robot.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
        self.index = {-1: 0}
        self._add_children(-1)
        rows = {link.body.name: self.index[i] for i, link in enumerate(model.links)} | {"world": 0}
        self.frames = {f.name: self.robot.addFrame(self._frame(f, rows[f.body])) for f in model.frames}
        self.body_rows = rows
        self.data = self.robot.createData()
        self.armature = np.concatenate([np.zeros(0), *(_armature(link.joint) for link in model.links)])

    def _add_children(self, parent: int) -> None:
        for i, link in enumerate(self.model.links):
            if link.parent == parent:
                joint_frame = self.pin.SE3(link.joint_frame.matrix, np.array(link.joint_frame.position))
                self.index[i] = self.robot.addJoint(
                    self.index[parent], self._joint(link.joint), joint_frame, link.joint.name
                )
                body = link.body
                inertia = self.pin.Inertia(body.total_mass, body.centre, body.inertia_about_centre)
                self.robot.appendBodyToJoint(self.index[i], inertia, self.pin.SE3.Identity())
                self._add_children(i)

    def _joint(self, joint: Joint) -> Any:
        pin = self.pin
        axis = np.array(joint.axis if joint.axis is not None else (0.0, 0.0, 1.0))
        axis = axis / np.linalg.norm(axis)
        match joint.kind:
            case "fixed":
                return pin.JointModelRZ()
            case "revolute":
                return pin.JointModelRevoluteUnaligned(axis)
            case "prismatic":
                return pin.JointModelPrismaticUnaligned(axis)
            case "cylindrical":
                both = pin.JointModelComposite(pin.JointModelPrismaticUnaligned(axis))
                both.addJoint(pin.JointModelRevoluteUnaligned(axis))
                return both
            case "universal":
                both = pin.JointModelComposite(pin.JointModelRX())
                both.addJoint(pin.JointModelRY())
                return both
            case "planar":
                return pin.JointModelPlanar()
            case "spherical":
                return pin.JointModelSpherical()
            case "floating":
                return pin.JointModelFreeFlyer()
        raise ValueError(f"no twin for a {joint.kind} joint")

    def _frame(self, frame: Frame, joint: int) -> Any:
        pin = self.pin
        return pin.Frame(frame.name, joint, pin.SE3(frame.matrix, np.array(frame.position)), pin.FrameType.OP_FRAME)

    def q(self, q: np.ndarray) -> np.ndarray:
        out = np.zeros(self.robot.nq)
        for i, link in enumerate(self.model.links):
            part, k = q[link.q_slice], self.robot.idx_qs[self.index[i]]
            if link.joint.kind == "planar":
                part = np.array([part[0], part[1], np.cos(part[2]), np.sin(part[2])])
            out[k : k + len(part)] = part
        return out

    def map(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A and Adot v."""
        A, bias = np.zeros((self.robot.nv, len(v))), np.zeros(self.robot.nv)
        for i, link in enumerate(self.model.links):
            k, n = self.robot.idx_vs[self.index[i]], len(link.joint.row.velocities)
            A[k : k + n, link.v_slice] = np.eye(n)
            if link.joint.kind == "planar":
                angle, rate = q[link.q_slice][2], v[link.v_slice][2]
                c, s = np.cos(angle), np.sin(angle)
                A[k : k + 2, link.v : link.v + 2] = [[c, s], [-s, c]]
                bias[k : k + 2] = rate * np.array([[-s, c], [-c, -s]]) @ v[link.v : link.v + 2]
        return A, bias

    def wrenches(self, q: np.ndarray, t: float) -> Any:
        """Loads as Pinocchio's external forces: at the joints' origins, in their axes."""
        pin = self.pin
        pin.forwardKinematics(self.robot, self.data, self.q(q))
        total = [pin.Force.Zero() for _ in range(self.robot.njoints)]
        for load in self.model.loads:
            frame = find_frame(self.model, load.frame)
            i = self.body_rows[frame.body]
            value = np.array([s.offset + s.amplitude * np.sin(s.omega * t + s.phase) for s in (load.x, load.y, load.z)])
            value = frame.matrix @ value if load.axes == "body" else self.data.oMi[i].rotation.T @ value
            force = np.zeros(3) if load.kind == "couple" else value
            moment = value if load.kind == "couple" else np.cross(frame.position, value)
            total[i] += pin.Force(force, moment)
        forces = pin.StdVec_Force()
        forces.extend(total)
        return forces

    def inverse(self, q: np.ndarray, v: np.ndarray, vdot: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """tau by rnea, and the wrench of every joint on its child (force, moment)."""
        A, bias = self.map(q, v)
        forces = self.wrenches(q, t)
        tau = self.pin.rnea(self.robot, self.data, self.q(q), A @ v, A @ vdot + bias, forces)
        wrenches = np.array([self.data.f[self.index[i]].vector for i in range(len(self.model.links))])
        return A.T @ tau + self.armature * vdot, wrenches

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        A, _ = self.map(q, np.zeros(len(self.armature)))
        M = np.triu(self.pin.crba(self.robot, self.data, self.q(q)))
        return A.T @ (M + np.triu(M, 1).T) @ A + np.diag(self.armature)

    def forward(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float) -> np.ndarray:
        """vdot by crba and a solve refined in extended precision; never by aba (see test_pinocchio.py)."""
        return refined_solve(self.mass_matrix(q), tau - self.inverse(q, v, np.zeros(len(v)), t)[0])

    def terms(self, q: np.ndarray, v: np.ndarray, vdot: np.ndarray, t: float) -> float:
        """The largest term in M vdot + h: what residuals are relative to."""
        h = self.inverse(q, v, np.zeros(len(v)), t)[0]
        return max(largest(np.abs(self.mass_matrix(q)) @ np.abs(vdot)), largest(h), 1e-300)


def largest(x: np.ndarray) -> float:
    """Size of an array, which may be empty."""
    return float(np.max(np.abs(x), initial=0.0))


def _armature(joint: Joint) -> np.ndarray:
    return np.array(joint.each("armature"), dtype=float) * np.array(joint.each("gear"), dtype=float) ** 2


def refined_solve(M: np.ndarray, b: np.ndarray) -> np.ndarray:
    """M x = b, positive definite: Cholesky, then residuals in extended precision."""
    if not len(b):
        return np.zeros(0)
    factor = scipy.linalg.cho_factor(M)
    exact = M.astype(np.longdouble)
    x = np.zeros(len(b), dtype=np.longdouble)
    for _ in range(4):
        x = x + scipy.linalg.cho_solve(factor, np.asarray(b - exact @ x, dtype=float))
    return np.asarray(x, dtype=float)


# --- probes: what the kernels of kinematics say -----------------------------------------------------------------


@kernel(QUERY)
def _frames(system, work, q, v, out):
    """out[row], per frame: R (9), p (3), velocity (3), angular velocity (3); world axes."""
    for row in range(len(q)):
        move(system, work, q[row], v[row])
        place(system, work)
        for k in range(len(system.frames)):
            R, p = frame_placement(system, work, k)
            u, w = frame_velocity(system, work, k)
            for m in range(9):
                out[row, 18 * k + m] = R[m]
            for m in range(3):
                out[row, 18 * k + 9 + m] = p[m]
                out[row, 18 * k + 12 + m] = u[m]
                out[row, 18 * k + 15 + m] = w[m]
    return 0


@kernel(QUERY)
def _rates(system, work, q, v, out):
    """out[row] = qdot."""
    for row in range(len(q)):
        rates(system, q[row], v[row], out[row])
    return 0


@dataclass(frozen=True)
class Frames:
    """Placements and velocities of all frames of the tables, in world axes."""

    R: np.ndarray  # (n, 3, 3)
    p: np.ndarray  # (n, 3)
    velocity: np.ndarray
    spin: np.ndarray


def frames_of(handle: Prepared, q: np.ndarray, v: np.ndarray) -> Frames:
    out = np.zeros((1, 18 * len(handle.system.frames)))
    entry(_frames)(*handle.refs, q[None, :], v[None, :], out)
    table = out.reshape(-1, 18)
    return Frames(table[:, :9].reshape(-1, 3, 3), table[:, 9:12], table[:, 12:15], table[:, 15:])


def rates_of(handle: Prepared, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    out = np.zeros((1, len(q)))
    entry(_rates)(*handle.refs, q[None, :], v[None, :], out)
    return out[0]


def accelerations_of(handle: Prepared, q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Acceleration of every body's origin, and angular acceleration, world axes, by the sweep of inverse dynamics."""
    handle.energy(q, v)  # placements
    handle.inverse_dynamics(q, v, vdot)
    x = handle.work.bodies
    R = x.R_WB.reshape(-1, 3, 3)
    return np.einsum("ijk,ik->ij", R, x.a) + handle.model.gravity, np.einsum("ijk,ik->ij", R, x.al)


# --- motion -----------------------------------------------------------------------------------------------------


def advance(model: Model, q: np.ndarray, v: np.ndarray, vdot: np.ndarray, h: float) -> np.ndarray:
    """q on a curve with velocity v and acceleration vdot at h = 0 (exact to second order, smooth in h)."""
    out = q.copy()
    for link in model.links:
        x, u, a = out[link.q_slice], v[link.v_slice], vdot[link.v_slice]
        if link.joint.kind == "floating":
            R = _matrix(x[3:])
            x[:3] += R @ (h * u[:3] + 0.5 * h**2 * (a[:3] + np.cross(u[3:], u[:3])))
            u, a, x = u[3:], a[3:], x[3:]
        if link.joint.kind in ("spherical", "floating"):
            x[:] = _times(x, _exp(h * u + 0.5 * h**2 * a))
        else:
            x += h * u + 0.5 * h**2 * a
        out[link.q_modes] += h * v[link.v_modes] + 0.5 * h**2 * vdot[link.v_modes]
    return out


def _matrix(q: np.ndarray) -> np.ndarray:
    x, y, z, w = q / np.linalg.norm(q)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([*(a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])), a[3] * b[3] - a[:3] @ b[:3]])


def _exp(phi: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(phi)
    return np.array([*(0.5 * np.sinc(0.5 * angle / np.pi) * phi), np.cos(0.5 * angle)])


def time_scale(v: np.ndarray, vdot: np.ndarray) -> float:
    """A tenth of the time in which v or vdot change the configuration by about one."""
    return 0.1 / (1.0 + largest(v) + np.sqrt(largest(vdot)))


def derivatives(function: Any, h: float, levels: int = 4) -> tuple[Any, Any]:
    """First and second derivative at 0: central differences of steps h, h/2, .. extrapolated (error ~ h^8)."""
    middle = function(0.0)
    first, second = [], []
    for k in range(levels):
        step = h / 2**k
        ahead, behind = function(step), function(-step)
        first.append((ahead - behind) / (2.0 * step))
        second.append((ahead - 2.0 * middle + behind) / step**2)
    return _extrapolate(first), _extrapolate(second)


def _extrapolate(row: list[Any]) -> Any:
    factor = 4.0
    while len(row) > 1:
        row = [(factor * fine - coarse) / (factor - 1.0) for coarse, fine in pairwise(row)]
        factor *= 4.0
    return row[0]


def comb(n: int, axis: tuple[float, float, float]) -> Model:
    """A chain of n hinges, each body with a branch: a hinge and on it another."""
    rng = np.random.default_rng(n)
    bodies, joints = [], []
    for i in range(n):
        names = [f"back{i}", f"tooth{i}", f"tip{i}"]
        inboard = [f"back{i - 1}" if i else "world", *names[:2]]
        bodies += [random_body(rng, name) for name in names]
        for name, parent in zip(names, inboard, strict=True):
            joint_frame = Frame(body=parent, position=(0.3, 0.2, 0.1))
            joints.append(Joint(name=f"to-{name}", kind="revolute", child=name, parent=joint_frame, axis=axis))
    return Model(name="comb", bodies=bodies, joints=joints)
