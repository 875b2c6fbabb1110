"""MJCF in, through the mujoco package (the extra `mjcf`): the kinematic tree as MuJoCo compiles it, as model tables.

MuJoCo runs in a process of its own, with limits of time and memory.

Bodies, inertias, joints with damping, springs, armature, dry friction and ranges, gravity, and geoms for the eyes.
Contacts of geoms and motors without bias are left out with a warning, sites and sensors without one; what else would
act and cannot be kept is refused, or dropped if the setting `unsupported` says so. Several joints of one body become a
chain of bodies without mass."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.io.limited import run_limited
from pliant.io.mjcf_files import check_files
from pliant.io.robot_settings import RobotSettings
from pliant.io.robot_tables import HIDDEN, Pose, Tables, found_limit, plain_name
from pliant.io.surfaces import ball, box, coarse, cylinder, surface_table
from pliant.model.messages import listed
from pliant.model.rotations import quaternion_matrix

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = 2, 3, 4, 5, 6, 7  # mjtGeom
KINDS = {FREE: "floating", BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute"}


def mjcf_tables(path: Path, text: str, settings: RobotSettings) -> dict[str, Any]:
    """The tables of a model file for the robot in an MJCF file; MuJoCo reads the file and what it names."""
    if "<!DOCTYPE" in text:
        raise ModelError(f"{path.name}: it has a document type (<!DOCTYPE ...>), which could hold entities; remove it")
    if "<mujoco" not in text:
        raise ModelError(f"{path.name}: there is no <mujoco> in it; give an MJCF file (URDF files end in .urdf)")
    if importlib.util.find_spec("mujoco") is None:
        raise ModelError(f"{path.name}: MJCF is read by the package mujoco; pip install 'pliant[mjcf]'")
    made: dict[str, Any]
    made, words = run_limited(
        path.name, "pliant.io.mjcf:read_tables", file=str(path.absolute()), text=text, settings=asdict(settings)
    )
    for each in words:
        warnings.warn(f"{path.name}: {each}", stacklevel=2)
    return made


def read_tables(file: str, text: str, settings: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The same, in the process that may fail, and what is to be said of it."""
    path = Path(file)
    check_files(path, text)
    return _tables(path, _compiled(path), RobotSettings(**settings))


def _tables(path: Path, robot: Any, settings: RobotSettings) -> tuple[dict[str, Any], list[str]]:
    if robot.nbody < 2:
        raise ModelError(f"{path.name}: there are no bodies in its world; give the file that has the robot")
    unkept = _unkept(robot)
    if unkept and settings.unsupported == "refuse":
        raise ModelError(
            f"{path.name}: it has {listed(unkept)}, which a model cannot hold yet; choose unsupported = drop to go on "
            "without (--set unsupported=drop)"
        )
    reader = _Reader(path, robot, settings)
    made = reader.tables.as_model(settings)
    made |= {} if settings.gravity else {"gravity": robot.opt.gravity.tolist()}
    return made, [*reader.left_out(), *([] if reader.tables.is_whole else [HIDDEN])]


def _compiled(path: Path) -> Any:
    import mujoco

    mujoco.set_mju_user_warning(lambda words: None)  # its own way is a log file in the working folder
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except Exception as error:  # ValueError with MuJoCo's own words, whatever a later version raises
        words = " ".join(str(error).split())
        if "allocate" in words or "unknown exception" in words:  # what it says when memory ends
            raise MemoryError from None
        raise ModelError(f"{path.name}: MuJoCo cannot read it ({words}); correct the file") from None


def _unkept(robot: Any) -> list[str]:
    """What acts on the robot and would be lost."""
    servos = sum(bool(np.any(row)) for row in robot.actuator_biasprm) if robot.nu else 0
    counts = {
        "tendon": robot.ntendon,
        "equality constraint": robot.neq,
        "actuator with bias (position or velocity servo)": servos,
        "flexible part": getattr(robot, "nflex", 0),
        "plugin": getattr(robot, "nplugin", 0),
        "body with gravity compensation": int(np.count_nonzero(robot.body_gravcomp)),
        "fluid": int(bool(robot.opt.density or robot.opt.viscosity)),
        "spring of a free joint": int(np.count_nonzero(robot.jnt_stiffness[robot.jnt_type == FREE])),
        "range of a ball joint": int(np.count_nonzero(robot.jnt_limited[robot.jnt_type == BALL])),
        "nonlinear spring": _rows(robot, "jnt_stiffnesspoly"),
        "nonlinear damper": _rows(robot, "dof_dampingpoly"),
    }
    return [f"{count} {what}{'s' if count > 1 else ''}" for what, count in counts.items() if count]


def _rows(robot: Any, table: str) -> int:
    """Rows with a value, of a table that only later versions of MuJoCo have."""
    values = getattr(robot, table, None)
    return 0 if values is None else sum(bool(np.any(row)) for row in values)


def touching_geoms(robot: Any) -> list[int]:
    """Geoms that would touch another one in MuJoCo: on bodies that move against each other, of kinds that collide, or
    in a pair of their own; but parents and children do not."""
    from mujoco import mjtDisableBit

    flags = int(robot.opt.disableflags)
    if flags & int(mjtDisableBit.mjDSBL_CONTACT):
        return []
    body = np.array(robot.geom_bodyid)
    kinds = np.stack([robot.geom_contype, robot.geom_conaffinity, body], axis=1)
    rows, which = np.unique(kinds, axis=0, return_inverse=True)
    (own, other, body), weld = rows.T.astype(np.int64), np.array(robot.body_weldid)
    at = weld[body]
    above = weld[np.array(robot.body_parentid)[at]]
    can = ((own[:, None] & other) | (other[:, None] & own)) != 0
    can &= at[:, None] != at
    if not flags & int(mjtDisableBit.mjDSBL_FILTERPARENT):
        is_parent = (at[:, None] == above) & (at[:, None] != 0)
        can &= ~(is_parent | is_parent.T)
    for signature in np.array(robot.exclude_signature, np.int64):
        one, two = body == signature >> 16, body == signature & 0xFFFF
        can[np.ix_(one, two)] = can[np.ix_(two, one)] = False
    pairs = {*np.ravel(robot.pair_geom1).tolist(), *np.ravel(robot.pair_geom2).tolist()}
    return sorted({*np.flatnonzero(can.any(axis=1)[which.ravel()]).tolist(), *pairs})


class _Reader:
    """Walks over MuJoCo's bodies, parents first."""

    def __init__(self, path: Path, robot: Any, settings: RobotSettings) -> None:
        self.path, self.robot, self.settings = path, robot, settings
        self.tables = Tables(plain_name(_model_name(robot) or path.stem))
        self.names = ["world", *(self._name("body", i) for i in range(1, robot.nbody))]
        roots = [i for i in range(1, robot.nbody) if robot.body_parentid[i] == 0]
        self.freed = self._freed(roots) if settings.base != "fixed" else -1
        for i in range(1, robot.nbody):
            self._add_body(i)

    def left_out(self) -> Iterator[str]:
        """What acts in MuJoCo and not in the model: contacts and actuators, by name."""
        robot = self.robot
        touching = [self._geom_name(g) for g in touching_geoms(robot)]
        if touching:
            yield (
                f"contacts of its geoms are left out ({listed(dict.fromkeys(touching))}); a model touches by contacts "
                "of its own, [[contacts]] in a sidecar"
            )
        if robot.nu:
            names = (self._name("actuator", i) for i in range(robot.nu))
            yield (f"its actuators are left out ({listed(names)}); give joints motors or controllers, as in a sidecar")

    def _geom_name(self, g: int) -> str:
        """Its own, or that of its body."""
        name = self._name("geom", g)
        return self.names[self.robot.geom_bodyid[g]] if name == f"geom{g}" else name

    def _name(self, kind: str, i: int) -> str:
        start = getattr(self.robot, f"name_{'jnt' if kind == 'joint' else kind}adr")[i]
        text = self.robot.names[start : self.robot.names.index(b"\0", start)].decode("utf-8", "replace")
        return plain_name(text) if text else f"{kind}{i}"

    def _freed(self, roots: list[int]) -> int:
        held = [i for i in roots if not self.robot.body_jntnum[i]]
        if len(roots) != 1 or not held:
            found = listed(self.names[i] for i in roots)
            raise ModelError(
                f"{self.path.name}: base: {self.settings.base} needs one body in the world, without joints; found: "
                f"{found}{'' if held else ' (with joints)'}; leave base out"
            )
        return held[0]

    def _add_body(self, i: int) -> None:
        robot, name = self.robot, self.names[i]
        parent = self.names[robot.body_parentid[i]]
        joint_frame = Pose(_matrix(robot.body_quat[i]), np.array(robot.body_pos[i]))
        first, count = robot.body_jntadr[i], robot.body_jntnum[i]
        if i == self.freed:
            self.tables.base |= joint_frame.table()
        elif count == 0:
            self._carry({"name": f"{name}_weld"[:80], "kind": "fixed", "child": name}, parent, joint_frame)
        for j in range(first, first + count):
            anchor = np.array(robot.jnt_pos[j]) if robot.jnt_type[j] != FREE else np.zeros(3)
            is_last = j == first + count - 1 and not np.any(anchor)
            child = name if is_last else f"{name}_{self._name('joint', j)}"[:80]
            if not is_last:
                self.tables.bodies.append({"name": child, "mass": 0.0})
            if robot.jnt_type[j] == FREE:
                # as a matrix: a quaternion of half a revolution about x would look like one whose w stands first
                start = {"position": joint_frame.p.tolist(), "attitude": joint_frame.R.tolist()}
                self._carry(self._joint(j, child) | {"q0": start}, parent, Pose())
            else:
                self._carry(self._joint(j, child), parent, joint_frame @ Pose(p=anchor))
            # what follows is placed in the frame at this anchor
            parent, joint_frame = child, Pose(p=-anchor)
        if count and parent != name:
            self._carry({"name": f"{name}_weld"[:80], "kind": "fixed", "child": name}, parent, joint_frame)
        self.tables.bodies.append({"name": name} | self._inertial(i))
        self.tables.add_surfaces(name, self._surfaces(i))

    def _carry(self, table: dict[str, Any], parent: str, joint_frame: Pose) -> None:
        place = joint_frame.table()
        self.tables.joints.append(table | {"parent": {"body": parent} | place if place else parent})

    def _inertial(self, i: int) -> dict[str, Any]:
        robot = self.robot
        mass = float(robot.body_mass[i])
        if mass == 0.0:
            return {"mass": 0.0}
        R = _matrix(robot.body_iquat[i])
        I = R @ np.diag(robot.body_inertia[i]) @ R.T
        table = {"mass": mass, "com": robot.body_ipos[i].tolist(), "inertia": (0.5 * (I + I.T)).tolist()}
        return table | ({"inertia_check": "symmetric"} if self.settings.inertia == "keep" else {})

    def _joint(self, j: int, child: str) -> dict[str, Any]:
        """What a joint carries. Coordinates are MuJoCo's less its `ref`, so that the file's pose is zero."""
        robot, kind = self.robot, int(self.robot.jnt_type[j])
        dof, place = int(robot.jnt_dofadr[j]), int(robot.jnt_qposadr[j])
        table: dict[str, Any] = {"name": self._name("joint", j), "kind": KINDS[kind], "child": child}
        scalars = {"damping": robot.dof_damping[dof], "armature": robot.dof_armature[dof]}
        scalars["stiffness"] = np.ravel(robot.jnt_stiffness[j])[0]
        table |= {key: float(np.ravel(value)[0]) for key, value in scalars.items() if np.ravel(value)[0]}
        if kind not in (SLIDE, HINGE):
            return table
        ref = float(robot.qpos0[place])
        table["axis"] = robot.jnt_axis[j].tolist()
        if table.get("stiffness") and robot.qpos_spring[place] != ref:
            table["rest"] = float(robot.qpos_spring[place]) - ref
        if robot.dof_frictionloss[dof] > 0:
            table["friction"] = {"law": "coulomb", "mu_k": 1.0, "load": float(robot.dof_frictionloss[dof])}
        if robot.jnt_limited[j]:
            lower, upper = (float(end) - ref for end in robot.jnt_range[j])
            table |= found_limit(self.tables, table["name"], lower, upper, self.settings)
        return table

    def _surfaces(self, i: int) -> Iterator[dict[str, Any]]:
        robot = self.robot
        for g in range(robot.body_geomadr[i], robot.body_geomadr[i] + robot.body_geomnum[i]):
            kind, size = int(robot.geom_type[g]), robot.geom_size[g]
            pose = Pose(_matrix(robot.geom_quat[g]), np.array(robot.geom_pos[g]))
            if kind == BOX:
                made = box(2 * size)
            elif kind == SPHERE:
                made = ball(size[0])
            elif kind == ELLIPSOID:
                points, faces = ball(1.0)
                made = points * size, faces
            elif kind in (CYLINDER, CAPSULE):
                made = cylinder(size[0], 2 * size[1])
            elif kind == MESH:
                m = robot.geom_dataid[g]
                rows = slice(robot.mesh_vertadr[m], robot.mesh_vertadr[m] + robot.mesh_vertnum[m])
                cells = slice(robot.mesh_faceadr[m], robot.mesh_faceadr[m] + robot.mesh_facenum[m])
                made = coarse(np.array(robot.mesh_vert[rows], float), np.array(robot.mesh_face[cells], np.int64))
            else:
                continue
            table = surface_table(*made, pose)
            if table is not None:
                yield table


def _model_name(robot: Any) -> str:
    return str(robot.names[: robot.names.index(b"\0")].decode("utf-8", "replace"))


def _matrix(wxyz: Any) -> Any:
    w, x, y, z = wxyz
    return quaternion_matrix((x, y, z, w))
