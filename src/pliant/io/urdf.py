"""URDF in: the tables of a model file, from a robot description. Nothing is executed; only meshes are read besides.

A link with mass is a body, with the frame of the link. A link without mass on a fixed joint is a frame of the body that
carries it. A root link called "world" without mass is the world."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.io.robot_settings import RobotSettings
from pliant.io.robot_tables import Pose, Tables, found_limit, plain_name
from pliant.io.surfaces import surface_of
from pliant.model.bodies import RollPitchYaw, attitude_matrix
from pliant.model.messages import closest, listed, shown
from pliant.model.quantities import LARGEST, without_direction

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "floating",
    "planar": "planar",
}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
MOST_CHARACTERS = 50_000_000


def urdf_tables(path: Path, text: str, settings: RobotSettings) -> dict[str, Any]:
    """The tables of a model file for the robot in a URDF text; paths of meshes start at the folder of `path`."""
    robot = _parse(path, text)
    links = _named(path, robot, "link")
    joints = [_joint(path, element, links) for element in robot.findall("joint")]
    _named(path, robot, "joint")
    root = _root(path, links, joints)
    made = _Build(path, settings, Tables(plain_name(robot.get("name") or path.stem)), links)
    made.plant(root, joints)
    return made.tables.as_model(settings)


# --- XML ------------------------------------------------------------------------------------------------------------


def _fail(path: Path, problem: str) -> NoReturn:
    raise ModelError(f"{path.name}: {problem}")


def _parse(path: Path, text: str) -> ET.Element:
    """The robot element. Entities can only be declared in a document type, so files with one are refused unread."""
    if len(text) > MOST_CHARACTERS:
        _fail(path, f"the file has {len(text)} characters; at most {MOST_CHARACTERS} are read")
    if "<!DOCTYPE" in text:
        _fail(path, "it has a document type (<!DOCTYPE ...>), which could hold entities; remove it")
    try:
        root = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        _fail(path, f"this is no XML ({error}); check that every tag is closed")
    if root.tag in ("mujoco", "sdf", "COLLADA"):
        _fail(path, f"its root is <{root.tag}>, not <robot>; give a URDF file (MJCF files end in .xml)")
    if root.tag != "robot":
        _fail(path, f"its root is <{shown(root.tag)[1:-1]}>; a URDF file has <robot name=...>")
    macro = next((part.tag for part in root.iter() if str(part.tag).startswith("{") and "xacro" in str(part.tag)), None)
    if macro is not None:
        _fail(
            path, f"it contains xacro macros (<{macro.rpartition('}')[2]}>); expand them first: xacro in > robot.urdf"
        )
    return root


def _named(path: Path, robot: ET.Element, tag: str) -> dict[str, ET.Element]:
    found: dict[str, ET.Element] = {}
    for index, element in enumerate(robot.findall(tag)):
        name = element.get("name")
        if not name:
            _fail(path, f"{tag} number {index + 1} has no name; give it one")
        if name in found:
            _fail(path, f"{tag} '{name}': two {tag}s have this name; rename one of them")
        found[name] = element
    return found


def _numbers(path: Path, where: str, element: ET.Element, key: str, default: str, count: int) -> list[float]:
    text = element.get(key, default)
    words = text.split()
    if len(words) != count or not all(NUMBER.fullmatch(word) and abs(float(word)) <= LARGEST for word in words):
        many = "a finite number" if count == 1 else f"{count} finite numbers"
        _fail(path, f"{where}: <{element.tag}> {key}={shown(text)}; give {many}")
    return [float(word) for word in words]


def _number(path: Path, where: str, element: ET.Element, key: str, default: str = "0") -> float:
    return _numbers(path, where, element, key, default, 1)[0]


def _pose(path: Path, where: str, element: ET.Element) -> Pose:
    origin = element.find("origin")
    if origin is None:
        return Pose()
    roll, pitch, yaw = _numbers(path, where, origin, "rpy", "0 0 0", 3)
    place = np.array(_numbers(path, where, origin, "xyz", "0 0 0", 3))
    return Pose(attitude_matrix(RollPitchYaw(roll, pitch, yaw)), place)


# --- joints and the tree --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Joint:
    """A joint of the file."""

    name: str
    kind: str  # in the words of URDF
    parent: str
    child: str
    origin: Pose
    axis: NDArray[np.float64]
    element: ET.Element

    @property
    def where(self) -> str:
        return f"joint '{self.name}'"


def _joint(path: Path, element: ET.Element, links: dict[str, ET.Element]) -> _Joint:
    name, kind = element.get("name", ""), element.get("type", "")
    where = f"joint '{name}'"
    if kind not in KINDS:
        _fail(path, f"{where}: type {shown(kind)} is not known{closest(kind, KINDS) or ';'} allowed: {listed(KINDS)}")
    ends = []
    for tag in ("parent", "child"):
        part = element.find(tag)
        link = None if part is None else part.get("link")
        if link is None:
            _fail(path, f'{where}: it has no {tag}; give <{tag} link="..."/>')
        if link not in links:
            hint = closest(link, links) or ";"
            _fail(path, f"{where}: {tag} link '{link}' does not exist{hint} there are: {listed(links)}")
        ends.append(link)
    axis = element.find("axis")
    xyz = [1.0, 0.0, 0.0] if axis is None else _numbers(path, where, axis, "xyz", "1 0 0", 3)
    if kind not in ("fixed", "floating") and without_direction("axis", tuple(xyz)):
        _fail(path, f"{where}: {without_direction('axis', tuple(xyz))}")
    return _Joint(name, kind, ends[0], ends[1], _pose(path, where, element), np.array(xyz), element)


def _root(path: Path, links: dict[str, ET.Element], joints: list[_Joint]) -> str:
    """The one link that is no child."""
    if not links:
        _fail(path, "it has no links; give at least one <link name=...>")
    carriers: dict[str, str] = {}
    for joint in joints:
        if joint.child in carriers:
            both = f"'{carriers[joint.child]}' and '{joint.name}'"
            _fail(
                path, f"link '{joint.child}' is the child of joints {both}; let one joint carry it (loops come later)"
            )
        carriers[joint.child] = joint.name
    roots = [name for name in links if name not in carriers]
    if len(roots) > 1:
        _fail(path, f"links {listed(roots)} have no parent; only one may be the root: connect the others by joints")
    if not roots:
        _fail(path, f"every link is a child of another ({listed(links)}): they stand in a circle; remove one joint")
    return roots[0]


@dataclass
class _Build:
    """Walks from the root outward and fills the tables."""

    path: Path
    settings: RobotSettings
    tables: Tables
    links: dict[str, ET.Element]
    carrier: dict[str, tuple[str, Pose]] = field(default_factory=dict)  # of a link: its body, and where it is on it

    def plant(self, root: str, joints: list[_Joint]) -> None:
        if root == "world" and self._is_massless(root):
            self.carrier[root] = ("world", Pose())
            joints = self._freed(joints) if self.settings.base == "floating" else joints
        else:
            self._add_body(root)
        children: dict[str, list[_Joint]] = {}
        for joint in joints:
            children.setdefault(joint.parent, []).append(joint)
        waiting = [joint for name in self.carrier for joint in reversed(children.get(name, ()))]
        while waiting:
            joint = waiting.pop()
            self._add_joint(joint)
            waiting += reversed(children.get(joint.child, []))
        lost = [name for name in self.links if name not in self.carrier]
        if lost:
            _fail(self.path, f"links {listed(lost)} carry each other in a circle; connect one of them to '{root}'")

    def _freed(self, joints: list[_Joint]) -> list[_Joint]:
        """Without the one fixed joint that ties the robot to the world, for a floating base."""
        ties = [joint for joint in joints if joint.parent == "world"]
        if len(ties) != 1 or ties[0].kind != "fixed":
            found = listed(f"'{joint.name}' ({joint.kind})" for joint in ties) or "none"
            _fail(
                self.path,
                f"base: floating needs one fixed joint between 'world' and the robot; found: {found}; leave base out",
            )
        self.tables.base |= ties[0].origin.table()
        self._add_body(ties[0].child)
        return [joint for joint in joints if joint is not ties[0]]

    def _add_joint(self, joint: _Joint) -> None:
        body, place = self.carrier[joint.parent]
        seat = place @ joint.origin
        kind = self._kind(joint)
        if kind == "fixed" and self._is_massless(joint.child):
            self.carrier[joint.child] = (body, seat)
            self.tables.frames.append({"name": plain_name(joint.child), "body": body} | seat.table())
            self._add_surfaces(joint.child)
            return
        child = plain_name(joint.child)
        table: dict[str, Any] = {"name": plain_name(joint.name), "kind": kind, "child": child}
        table |= self._acting(joint) if kind != "fixed" else {}
        if kind == "planar" and abs(joint.axis[2]) < np.linalg.norm(joint.axis) * (1 - 1e-15):
            # pliant's planes are x-y: the joint turns into the plane, and a weld turns back
            turn = Pose(_turn_to(joint.axis))
            table["child"], seat = f"{child}_plane"[:80], seat @ turn
            self.tables.bodies.append({"name": table["child"], "mass": 0.0})
            weld = {"name": f"{table['name']}_weld"[:80], "kind": "fixed", "child": child}
            self._carry(table, body, seat)
            self._carry(weld, table["child"], turn.inverse())
        else:
            self._carry(table, body, seat)
        if kind in ("revolute", "prismatic"):
            table["axis"] = joint.axis.tolist()
        self._add_body(joint.child)

    def _carry(self, table: dict[str, Any], parent: str, seat: Pose) -> None:
        place = seat.table()
        table["parent"] = {"body": parent} | place if place else parent
        self.tables.joints.append(table)

    def _kind(self, joint: _Joint) -> str:
        """In the words of models; joints that mimic others as the settings say."""
        mimic = joint.element.find("mimic")
        if mimic is not None and joint.kind != "fixed" and self.settings.mimic == "refuse":
            leader = shown(mimic.get("joint", ""))
            _fail(
                self.path,
                f"{joint.where}: it mimics {leader}, and coupled joints come later; choose mimic = free (it moves by "
                "itself) or fixed (it is held at 0), as in --set mimic=free",
            )
        return "fixed" if mimic is not None and self.settings.mimic == "fixed" else KINDS[joint.kind]

    def _acting(self, joint: _Joint) -> dict[str, Any]:
        """Limits, damping and friction of a moving joint."""
        table: dict[str, Any] = {}
        dynamics, where = joint.element.find("dynamics"), joint.where
        if dynamics is not None:
            damping = _number(self.path, where, dynamics, "damping")
            friction = _number(self.path, where, dynamics, "friction")
            if min(damping, friction) < 0.0:
                _fail(self.path, f"{where}: damping {damping:g}, friction {friction:g}; give 0 or more")
            table |= {"damping": damping} if damping else {}
            if friction and joint.kind in ("revolute", "continuous", "prismatic"):
                table["friction"] = {"law": "coulomb", "mu_k": 1.0, "load": friction}
        limit = joint.element.find("limit")
        if limit is not None and joint.kind in ("revolute", "prismatic"):
            lower, upper = (_number(self.path, where, limit, key) for key in ("lower", "upper"))
            if lower > upper:
                _fail(self.path, f"{where}: lower limit {lower:g} is above upper {upper:g}; swap or correct them")
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
        mass = 0.0 if given is None else _number(self.path, where, given, "value")
        entries = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        six = [0.0 if inertia is None else _number(self.path, where, inertia, key) for key in entries]
        if mass < 0.0:
            _fail(self.path, f"{where}: mass {mass:g} kg; give 0 or more")
        if mass == 0.0 and not any(six):
            return {"mass": 0.0}
        if mass == 0.0 and self.settings.inertia == "check":
            _fail(self.path, f"{where}: it has inertia but mass 0; give it mass, or choose the setting inertia = keep")
        pose, (xx, xy, xz, yy, yz, zz) = _pose(self.path, where, inertial), six
        I = pose.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ pose.R.T
        table = {"mass": mass, "com": pose.p.tolist(), "inertia": (0.5 * (I + I.T)).tolist()}
        return table | ({"inertia_check": "symmetric"} if self.settings.inertia == "keep" else {})

    def _add_surfaces(self, link: str) -> None:
        """What is seen of a link; where nothing is to be seen, what collides."""
        body, place = self.carrier[link]
        for tag in ("visual", "collision"):
            found = [*self._surfaces(link, tag, place)]
            if found:
                self.tables.add_surfaces(body, found)
                return

    def _surfaces(self, link: str, tag: str, place: Pose) -> Iterator[Any]:
        for part in self.links[link].findall(tag):
            geometry = part.find("geometry")
            shape = None if geometry is None else next(iter(geometry), None)
            if shape is not None:
                where = f"link '{link}'"
                sizes = {
                    key: _numbers(self.path, where, shape, key, shape.get(key, ""), count)
                    for key, count in (("size", 3), ("radius", 1), ("length", 1), ("scale", 3))
                    if key in shape.attrib
                }
                pose = place @ _pose(self.path, where, part)
                made = surface_of(str(shape.tag), sizes, shape.get("filename", ""), self.path.parent, pose)
                if made is not None:
                    yield made


def _turn_to(axis: NDArray[np.float64]) -> NDArray[np.float64]:
    """A rotation whose third column is the axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
