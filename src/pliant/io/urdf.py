"""URDF in: the tables of a model file, from a robot description. Nothing is executed; only meshes are read besides.

A link with mass is a body, with the frame of the link. A link without mass on a fixed joint is a frame of the body that
carries it. A root link called "world" without mass is the world."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.io.meshes import Meshes
from pliant.io.robot_settings import RobotSettings
from pliant.io.robot_tables import HIDDEN, Pose, Tables, found_limit, plain_name
from pliant.io.surfaces import shape_of, surface_table
from pliant.io.urdf_file import (
    KINDS,
    UrdfJoint,
    fail,
    find_root,
    named,
    number,
    numbers,
    parse_robot,
    pose_of,
    read_joint,
)
from pliant.model.messages import listed, shown


def urdf_tables(path: Path, text: str, settings: RobotSettings) -> dict[str, Any]:
    """The tables of a model file for the robot in a URDF text; paths of meshes start at the folder of `path`."""
    robot = parse_robot(path, text)
    links = named(path, robot, "link")
    joints = [read_joint(path, element, links) for element in robot.findall("joint")]
    named(path, robot, "joint")
    root = find_root(path, links, joints)
    meshes = Meshes(path, _mesh_names(links))
    made = _Build(path, settings, Tables(plain_name(robot.get("name") or path.stem)), links, meshes)
    made.plant(root, joints)
    meshes.report()
    if not made.tables.is_whole:
        warnings.warn(f"{path.name}: {HIDDEN}", stacklevel=2)
    return made.tables.as_model(settings)


def _mesh_names(links: dict[str, ET.Element]) -> Iterator[str]:
    """Files of what is to be seen."""
    for link in links.values():
        for part in link.findall("visual") or link.findall("collision"):
            yield from (mesh.get("filename", "") for mesh in part.iter("mesh"))


@dataclass
class _Build:
    """Walks from the root outward and fills the tables."""

    path: Path
    settings: RobotSettings
    tables: Tables
    links: dict[str, ET.Element]
    meshes: Meshes
    carrier: dict[str, tuple[str, Pose]] = field(default_factory=dict)  # of a link: its body, and where it is on it

    def plant(self, root: str, joints: list[UrdfJoint]) -> None:
        if root == "world" and self._is_massless(root):
            self.carrier[root] = ("world", Pose())
            joints = self._freed(joints) if self.settings.base == "floating" else joints
        else:
            self._add_body(root)
        children: dict[str, list[UrdfJoint]] = {}
        for joint in joints:
            children.setdefault(joint.parent, []).append(joint)
        waiting = [joint for name in self.carrier for joint in reversed(children.get(name, ()))]
        while waiting:
            joint = waiting.pop()
            self._add_joint(joint)
            waiting += reversed(children.get(joint.child, []))
        lost = [name for name in self.links if name not in self.carrier]
        if lost:
            fail(self.path, f"links {listed(lost)} carry each other in a circle; connect one of them to '{root}'")

    def _freed(self, joints: list[UrdfJoint]) -> list[UrdfJoint]:
        """Without the one fixed joint that ties the robot to the world, for a floating base."""
        ties = [joint for joint in joints if joint.parent == "world"]
        if len(ties) != 1 or ties[0].kind != "fixed":
            found = listed(f"'{joint.name}' ({joint.kind})" for joint in ties) or "none"
            fail(
                self.path,
                f"base: floating needs one fixed joint between 'world' and the robot; found: {found}; leave base out",
            )
        self.tables.base |= ties[0].origin.table()
        self._add_body(ties[0].child)
        return [joint for joint in joints if joint is not ties[0]]

    def _add_joint(self, joint: UrdfJoint) -> None:
        body, place = self.carrier[joint.parent]
        joint_frame = place @ joint.origin
        kind = self._kind(joint)
        if kind == "fixed" and self._is_massless(joint.child):
            self.carrier[joint.child] = (body, joint_frame)
            self.tables.frames.append({"name": plain_name(joint.child), "body": body} | joint_frame.table())
            self._add_surfaces(joint.child)
            return
        child = plain_name(joint.child)
        table: dict[str, Any] = {"name": plain_name(joint.name), "kind": kind, "child": child}
        table |= self._acting(joint) if kind != "fixed" else {}
        if kind == "planar" and joint.axis[2] < np.linalg.norm(joint.axis) * (1 - 1e-15):
            # pliant's planes are x-y: the joint frame is rotated into the plane, and a weld rotates back
            turn = Pose(_turn_to(joint.axis))
            table["child"], joint_frame = f"{child}_plane"[:80], joint_frame @ turn
            self.tables.bodies.append({"name": table["child"], "mass": 0.0})
            weld = {"name": f"{table['name']}_weld"[:80], "kind": "fixed", "child": child}
            self._carry(table, body, joint_frame)
            self._carry(weld, table["child"], turn.inverse())
        else:
            self._carry(table, body, joint_frame)
        if kind in ("revolute", "prismatic"):
            table["axis"] = joint.axis.tolist()
        self._add_body(joint.child)

    def _carry(self, table: dict[str, Any], parent: str, joint_frame: Pose) -> None:
        place = joint_frame.table()
        table["parent"] = {"body": parent} | place if place else parent
        self.tables.joints.append(table)

    def _kind(self, joint: UrdfJoint) -> str:
        """In the words of models; joints that mimic others as the settings say."""
        mimic = joint.element.find("mimic")
        if mimic is not None and joint.kind != "fixed" and self.settings.mimic == "refuse":
            leader = shown(mimic.get("joint", ""))
            fail(
                self.path,
                f"{joint.where}: it mimics {leader}, and coupled joints are not supported; choose mimic = free (it "
                "moves by itself) or fixed (it is held at 0), as in --set mimic=free",
            )
        return "fixed" if mimic is not None and self.settings.mimic == "fixed" else KINDS[joint.kind]

    def _acting(self, joint: UrdfJoint) -> dict[str, Any]:
        """Limits, damping and friction of a moving joint."""
        table: dict[str, Any] = {}
        dynamics, where = joint.element.find("dynamics"), joint.where
        if dynamics is not None:
            damping = number(self.path, where, dynamics, "damping")
            friction = number(self.path, where, dynamics, "friction")
            if min(damping, friction) < 0.0:
                fail(self.path, f"{where}: damping {damping:g}, friction {friction:g}; give 0 or more")
            table |= {"damping": damping} if damping else {}
            if friction and joint.kind in ("revolute", "continuous", "prismatic"):
                table["friction"] = {"law": "coulomb", "mu_k": 1.0, "load": friction}
        limit = joint.element.find("limit")
        if limit is not None and joint.kind in ("revolute", "prismatic"):
            lower, upper = (number(self.path, where, limit, key) for key in ("lower", "upper"))
            if lower > upper:
                fail(self.path, f"{where}: lower limit {lower:g} is above upper {upper:g}; swap or correct them")
            table |= found_limit(self.tables, plain_name(joint.name), lower, upper, self.settings)
        return table

    def _add_body(self, link: str) -> None:
        name = plain_name(link)
        self.carrier[link] = (name, Pose())
        self.tables.bodies.append({"name": name} | self._inertial(link))
        self._add_surfaces(link)

    def _is_massless(self, link: str) -> bool:
        return self._inertial(link) == {"mass": 0.0}

    def _inertial(self, link: str) -> dict[str, Any]:
        """Mass, mass centre, and inertia about it in axes of the link."""
        where, inertial = f"link '{link}'", self.links[link].find("inertial")
        if inertial is None:
            return {"mass": 0.0}
        given, inertia = inertial.find("mass"), inertial.find("inertia")
        mass = 0.0 if given is None else number(self.path, where, given, "value")
        entries = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        six = [0.0 if inertia is None else number(self.path, where, inertia, key) for key in entries]
        if mass < 0.0:
            fail(self.path, f"{where}: mass {mass:g} kg; give 0 or more")
        if mass == 0.0 and not any(six):
            return {"mass": 0.0}
        if mass == 0.0 and self.settings.inertia == "check":
            fail(self.path, f"{where}: it has inertia but mass 0; give it mass, or choose the setting inertia = keep")
        pose, (xx, xy, xz, yy, yz, zz) = pose_of(self.path, where, inertial), six
        I = pose.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ pose.R.T
        table = {"mass": mass, "com": pose.p.tolist(), "inertia": (0.5 * (I + I.T)).tolist()}
        return table | ({"inertia_check": "symmetric"} if self.settings.inertia == "keep" else {})

    def _add_surfaces(self, link: str) -> None:
        """What is seen of a link; where nothing is to be seen, what collides."""
        body, place = self.carrier[link]
        for tag in ("visual", "collision"):
            if self.tables.add_surfaces(body, self._surfaces(link, tag, place)):
                return

    def _surfaces(self, link: str, tag: str, place: Pose) -> Iterator[Any]:
        """What has wrong numbers is not seen: no reason to refuse the robot."""
        for part in self.links[link].findall(tag):
            geometry = part.find("geometry")
            shape = None if geometry is None else next(iter(geometry), None)
            if shape is None:
                continue
            with suppress(ModelError):
                sizes = {
                    key: numbers(self.path, "", shape, key, "", count)
                    for key, count in (("size", 3), ("radius", 1), ("length", 1), ("scale", 3))
                    if key in shape.attrib
                }
                pose = place @ pose_of(self.path, "", part)
                if shape.tag == "mesh":
                    scale = np.array(sizes.get("scale", (1.0, 1.0, 1.0)))
                    made = self.meshes.triangles(shape.get("filename", ""), scale)
                else:
                    made = shape_of(str(shape.tag), sizes)
                table = None if made is None else surface_table(*made, pose)
                if table is not None:
                    yield table


def _turn_to(axis: NDArray[np.float64]) -> NDArray[np.float64]:
    """A rotation whose third column is the axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
