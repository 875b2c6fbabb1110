"""What a URDF file says: its elements, numbers and poses, its joints, and which link is the root."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.io.robot_tables import Pose
from pliant.model.attitudes import RollPitchYaw, attitude_matrix
from pliant.model.messages import closest, listed, short, shown
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
EXPAND = (
    "expand them first: xacro robot.urdf.xacro > robot.urdf (the command of ROS), or xacrodoc robot.urdf.xacro -o "
    "robot.urdf (pip install xacrodoc)"
)
MAX_CHARACTERS = 10_000_000
LONGEST_NUMBER = 400  # characters


def fail(path: Path, problem: str) -> NoReturn:
    raise ModelError(f"{path.name}: {problem}")


def parse_robot(path: Path, text: str) -> ET.Element:
    """The robot element. Entities can only be declared in a document type, so files with one are refused unread."""
    if len(text) > MAX_CHARACTERS:
        fail(path, f"the file has {len(text)} characters; at most {MAX_CHARACTERS} are read")
    if "<!DOCTYPE" in text:
        fail(path, "it has a document type (<!DOCTYPE ...>), which could hold entities; remove it")
    try:
        root = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        if "<xacro:" in text and "unbound prefix" in str(error):
            fail(path, f"it contains xacro macros (<xacro:..>); {EXPAND}")
        fail(path, f"this is no XML ({error}); check that every tag is closed")
    if root.tag in ("mujoco", "sdf", "COLLADA"):
        fail(path, f"its root is <{root.tag}>, not <robot>; give a URDF file (MJCF files end in .xml)")
    if root.tag != "robot":
        fail(path, f"its root is <{shown(root.tag)[1:-1]}>; a URDF file has <robot name=...>")
    for macro in _macros(root):
        fail(path, f"it contains xacro macros ({macro}); {EXPAND}")
    return root


def _macros(root: ET.Element) -> Iterator[str]:
    """Tags of xacro, and values that it would replace; names of files may hold any signs."""
    for part in root.iter():
        if str(part.tag).startswith("{") and "xacro" in str(part.tag):
            yield f"<{str(part.tag).rpartition('}')[2]}>"
        yield from (f"{key}={shown(value)}" for key, value in part.items() if "${" in value and key != "filename")


def named(path: Path, robot: ET.Element, tag: str) -> dict[str, ET.Element]:
    found: dict[str, ET.Element] = {}
    for index, element in enumerate(robot.findall(tag)):
        name = element.get("name")
        if not name:
            fail(path, f"{tag} number {index + 1} has no name; give it one")
        if name in found:
            fail(path, f"{tag} '{name}': two {tag}s have this name; rename one of them")
        found[name] = element
    return found


def numbers(path: Path, where: str, element: ET.Element, key: str, default: str, count: int) -> list[float]:
    text = element.get(key, default)
    words = text.split()
    if len(words) != count or not all(_is_number(word) for word in words):
        many = "a finite number" if count == 1 else f"{count} finite numbers"
        fail(path, f"{where}: <{element.tag}> {key}={shown(text)}; give {many}")
    return [float(word) for word in words]


def _is_number(word: str) -> bool:
    return len(word) <= LONGEST_NUMBER and bool(NUMBER.fullmatch(word)) and abs(float(word)) <= LARGEST


def number(path: Path, where: str, element: ET.Element, key: str, default: str = "0") -> float:
    return numbers(path, where, element, key, default, 1)[0]


def pose_of(path: Path, where: str, element: ET.Element) -> Pose:
    origin = element.find("origin")
    if origin is None:
        return Pose()
    roll, pitch, yaw = numbers(path, where, origin, "rpy", "0 0 0", 3)
    place = np.array(numbers(path, where, origin, "xyz", "0 0 0", 3))
    return Pose(attitude_matrix(RollPitchYaw(roll, pitch, yaw)), place)


# --- joints and the tree --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UrdfJoint:
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


def read_joint(path: Path, element: ET.Element, links: dict[str, ET.Element]) -> UrdfJoint:
    name, kind = element.get("name", ""), element.get("type", "")
    where = f"joint '{short(name)}'"
    if kind not in KINDS:
        fail(path, f"{where}: type {shown(kind)} is not known{closest(kind, KINDS) or ';'} allowed: {listed(KINDS)}")
    ends = []
    for tag in ("parent", "child"):
        part = element.find(tag)
        link = None if part is None else part.get("link")
        if link is None:
            fail(path, f'{where}: it has no {tag}; give <{tag} link="..."/>')
        if link not in links:
            hint = closest(link, links) or ";"
            fail(path, f"{where}: {tag} link '{short(link)}' does not exist{hint} there are: {listed(links)}")
        ends.append(link)
    axis = element.find("axis")
    xyz = [1.0, 0.0, 0.0] if axis is None else numbers(path, where, axis, "xyz", "1 0 0", 3)
    if kind not in ("fixed", "floating") and without_direction("axis", tuple(xyz)):
        fail(path, f"{where}: {without_direction('axis', tuple(xyz))}")
    return UrdfJoint(name, kind, ends[0], ends[1], pose_of(path, where, element), np.array(xyz), element)


def find_root(path: Path, links: dict[str, ET.Element], joints: list[UrdfJoint]) -> str:
    """The one link that is no child."""
    if not links:
        fail(path, "it has no links; give at least one <link name=...>")
    carriers: dict[str, str] = {}
    for joint in joints:
        if joint.child in carriers:
            both = f"'{carriers[joint.child]}' and '{joint.name}'"
            fail(
                path,
                f"link '{joint.child}' is the child of joints {both}; let one joint carry it, and close the loop by a "
                "[[loops]] table of the sidecar",
            )
        carriers[joint.child] = joint.name
    roots = [name for name in links if name not in carriers]
    if len(roots) > 1:
        fail(path, f"links {listed(roots)} have no parent; only one may be the root: connect the others by joints")
    if not roots:
        fail(path, f"every link is a child of another ({listed(links)}): they stand in a circle; remove one joint")
    return roots[0]
