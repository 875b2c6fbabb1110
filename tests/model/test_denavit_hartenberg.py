"""Denavit-Hartenberg rows against the product of 4x4 transforms, and against Pinocchio."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import DenavitHartenberg, DHRow, Frame, Model
from pliant.errors import ModelError

# the arm of a Stanford manipulator and more: every parameter, both kinds, frames tilted every way
ROWS = [
    DHRow(
        "waist", 0.1, "-90 deg", 0.4, "20 deg", mass=3.0, com=(0.1, 0.2, -0.1), inertia=(0.2, 0.3, 0.25, 0.01, 0, 0.02)
    ),
    DHRow("shoulder", -0.2, "90 deg", 0.15, 0.0, mass=2.0, com=(0.0, -0.1, 0.05), inertia=(0.1, 0.08, 0.06)),
    DHRow("boom", 0.0, 0.3, 0.5, "-70 deg", "prismatic", mass=1.0, com=(0.0, 0.0, -0.2), inertia=(0.03, 0.03, 0.01)),
    DHRow("roll", 0.05, -1.1, 0.0, 0.4, mass=0.6, com=(0.02, 0, 0), inertia=(0.01, 0.02, 0.015), frame="tool"),
]
CONVENTIONS = ("classic", "modified")
PARENT = Frame("world", (0.3, -0.2, 0.1), ((0, -1, 0), (1, 0, 0), (0, 0, 1)))


def rotation_x(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def rotation_z(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def shift(x: float, z: float) -> np.ndarray:
    T = np.eye(4)
    T[0, 3], T[2, 3] = x, z
    return T


def transforms(convention: str, q: np.ndarray) -> Iterator[np.ndarray]:
    """World to the frame of every row, by the textbook."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.array(PARENT.attitude), PARENT.position
    for row, value in zip(ROWS, q, strict=True):
        theta = row.theta + (value if row.kind == "revolute" else 0.0)
        d = row.d + (value if row.kind == "prismatic" else 0.0)
        about_z, about_x = rotation_z(theta) @ shift(0, d), rotation_x(row.alpha) @ shift(row.a, 0)
        T = T @ (about_z @ about_x if convention == "classic" else about_x @ about_z)
        yield T


def model_of(convention: str) -> Model:
    arm = DenavitHartenberg([replace(row, frame=f"row_{row.name}") for row in ROWS], convention, PARENT)
    return Model("arm", arm.bodies, arm.joints, frames=arm.frames)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_frames_are_where_the_product_of_transforms_puts_them(convention: str) -> None:
    model, q = model_of(convention), np.array([0.3, -0.7, 0.25, 1.2])
    for row, T in zip(ROWS, transforms(convention, q), strict=True):
        R, p = pliant.frame_placement(model, q, f"row_{row.name}")
        assert p == pytest.approx(T[:3, 3], abs=1e-14)
        assert pytest.approx(T[:3, :3], abs=1e-14) == R


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_dynamics_are_pinocchios(convention: str) -> None:
    """Built there by placements and inertias in the frames of the rows, which it moves to its joints."""
    pin = pytest.importorskip("pinocchio", reason="pip install pin")
    other, before = pin.Model(), pin.SE3(np.array(PARENT.attitude, float), np.array(PARENT.position))
    parent = 0
    for row in ROWS:
        about_z = pin.SE3(rotation_z(row.theta) @ shift(0, row.d))
        about_x = pin.SE3(rotation_x(row.alpha) @ shift(row.a, 0))
        place = before * about_z if convention == "classic" else before * about_x * about_z
        before = about_x if convention == "classic" else pin.SE3.Identity()
        kind = pin.JointModelRZ() if row.kind == "revolute" else pin.JointModelPZ()
        parent = other.addJoint(parent, kind, place, row.name)
        inertia = pin.Inertia(row.mass, np.array(row.com), np.array(row.inertia))
        other.appendBodyToJoint(parent, inertia, before)
    model, data = model_of(convention), other.createData()
    random = np.random.default_rng(5)
    q, v, tau = (random.uniform(-1, 1, 4) for _ in range(3))
    assert pliant.mass_matrix(model, q) == pytest.approx(np.array(pin.crba(other, data, q)), rel=1e-12, abs=1e-14)
    assert pliant.forward_dynamics(model, q, v, tau) == pytest.approx(pin.aba(other, data, q, v, tau), rel=1e-11)


def test_a_file_with_rows_is_the_model_of_python(tmp_path: Path) -> None:
    (tmp_path / "arm.toml").write_text(
        """
        name = "arm"
        [denavit_hartenberg]
        convention = "modified"
        parent = "post"
        rows = [
            { name = "a", d = 0.2, mass = 1, inertia = [1, 1, 1] },
            { name = "b", a = 0.5, alpha = "90 deg", body = "hand" },
        ]
        [[bodies]]
        name = "post"
        mass = 9
        [[bodies]]
        name = "hand"
        mass = 2
        com = [0.1, 0, 0]
        [[joints]]
        name = "b"
        q0 = 0.4
        """
    )
    rows = [DHRow("a", d=0.2, mass=1.0, inertia=(1, 1, 1)), DHRow("b", a=0.5, alpha="90 deg", body="hand")]
    arm = DenavitHartenberg(rows, "modified", "post")
    hand, post = pliant.Body("hand", 2.0, (0.1, 0, 0)), pliant.Body("post", 9.0)
    first, second = arm.joints
    assert pliant.load(tmp_path / "arm.toml") == Model(
        "arm", [*arm.bodies, post, hand], [first, replace(second, q0=0.4)]
    )


def test_a_planar_arm_stays_planar_and_a_beam_leads_to_the_next_joint() -> None:
    arm = DenavitHartenberg([DHRow("a", a=1.0, body="boom"), DHRow("b", a=0.5, mass=1.0)], "classic")
    material = pliant.Material(young=7e10, density=2700.0)
    boom = pliant.Beam("boom", 1.0, material, pliant.Circle(0.02), bending_y=2)
    model = Model("arm", [boom, *arm.bodies], arm.joints, gravity=(0, -9.81, 0))
    assert pliant.prepare(model).system.world[0].is_planar


MISTAKES: list[tuple[Any, list[str]]] = [
    (lambda: DenavitHartenberg([], "classic"), ["rows"]),
    (lambda: DenavitHartenberg([DHRow("a")]), ["'convention' is missing"]),
    (lambda: DenavitHartenberg([DHRow("a")], "craig"), ["convention", '"craig" is not known', "classic, modified"]),
    (lambda: DHRow("a", alpha="90"), ["alpha", "no unit"]),
    (lambda: DHRow("a", com=(0, 0, 1)), ["com needs mass"]),
    (lambda: DHRow("a", kind="spherical"), ["kind", "revolute, prismatic"]),
    (lambda: DHRow("a", mass=-1.0), ["mass", "0 or more"]),
    (
        lambda: Model("m", [pliant.Body("x", 1.0)], DenavitHartenberg([DHRow("a")], "classic").joints),
        ["child 'a_link' does not exist"],
    ),
]


@pytest.mark.parametrize(("make", "words"), MISTAKES)
def test_messages(make: Any, words: list[str]) -> None:
    with pytest.raises(ModelError) as found:
        make()
    for word in words:
        assert word in str(found.value)


def test_messages_of_files_say_where(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text('name = "arm"\n[denavit_hartenberg]\nconvention = "classic"\nrows = [{ name = "a", alfa = 1 }]\n')
    with pytest.raises(ModelError, match=r"arm.toml: denavit_hartenberg: rows\[0\].*unknown key 'alfa'.*'alpha'"):
        pliant.load(path)
