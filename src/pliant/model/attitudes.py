"""Attitudes as a model file gives them: quaternion, matrix, axis and angle, rotation vector, Euler angles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Discriminator, Tag

from pliant.model.messages import refuse, shown
from pliant.model.quantities import Angle, Angles, Direction, Matrix, Quaternion, Vector, described, without_direction
from pliant.model.rotations import euler_matrix, quaternion_matrix, rotation_matrix, rotation_vector_matrix

Sequence = Literal["xyx", "xyz", "xzx", "xzy", "yxy", "yxz", "yzx", "yzy", "zxy", "zxz", "zyx", "zyz"]


@described
class AxisAngle:
    """A rotation by `angle` about `axis`."""

    axis: Direction  # any length but 0, or a letter: "x"
    angle: Angle  # [rad], or text like "30 deg"
    kind: Literal["axis-angle"] = "axis-angle"  # of attitude

    def __post_init__(self) -> None:
        refuse(filter(None, [without_direction("axis", self.axis)]))


@described
class RollPitchYaw:
    """Rotations about fixed x, then fixed y, then fixed z."""

    roll: Angle = 0.0  # about x [rad], or text like "30 deg"
    pitch: Angle = 0.0  # about y [rad], or text like "30 deg"
    yaw: Angle = 0.0  # about z [rad], or text like "30 deg"
    kind: Literal["roll-pitch-yaw"] = "roll-pitch-yaw"  # of attitude


@described
class EulerAngles:
    """Three rotations, one after the other: about the body's own axes as they rotate, or about axes that stay fixed."""

    euler: Sequence  # axes of the rotations, the first one first
    angles: Angles  # in that order [rad], or text like "30 deg"
    about: Literal["body", "fixed"] = "body"  # whose axes: intrinsic or extrinsic
    kind: Literal["euler-angles"] = "euler-angles"  # of attitude


@described
class RotationVector:
    """A rotation about a vector by its length."""

    rotation_vector: Angles  # axis times angle [rad]
    kind: Literal["rotation-vector"] = "rotation-vector"  # of attitude


def _some_length(quaternion: tuple[float, ...]) -> tuple[float, ...]:
    if np.linalg.norm(quaternion) < 1e-6:
        raise ValueError(f"quaternion {shown(quaternion)} has no length; give x y z w, (0, 0, 0, 1) for no rotation")
    return quaternion


def _rotation(matrix: Any) -> Any:
    R = np.array(matrix)
    error = np.abs(R.T @ R - np.eye(3)).max()
    if error > 1e-6 or np.linalg.det(R) < 0:
        found = "mirrors" if error <= 1e-6 else f"R^T R differs from the unit matrix by {error:.2g}"
        raise ValueError(
            f"the matrix is no rotation ({found}); give right-handed unit axes as columns, or axis and angle"
        )
    return matrix


TABLES = (AxisAngle, RollPitchYaw, EulerAngles, RotationVector)


def _attitude_form(value: Any) -> str | None:
    """Which of the ways to give an attitude was meant; None if none of them."""
    if isinstance(value, (list, tuple)):
        rows = all(isinstance(row, (list, tuple)) for row in value)
        return "matrix" if len(value) == 3 and rows else "quaternion" if len(value) == 4 else None
    if isinstance(value, TABLES):
        return value.kind
    if not isinstance(value, dict):
        return None
    hints = {"axis": "axis-angle", "angle": "axis-angle", "rotation_vector": "rotation-vector"}
    hints |= dict.fromkeys(("euler", "angles", "about"), "euler-angles")
    guess = next((hints[key] for key in value if key in hints), "roll-pitch-yaw")
    kind = value.get("kind", guess)
    return kind if kind in [table.kind for table in TABLES] else None


if TYPE_CHECKING:  # more forms may be given than a field then has
    Attitude: TypeAlias = Any
else:
    Attitude = Annotated[
        Annotated[Quaternion, AfterValidator(_some_length), Tag("quaternion")]
        | Annotated[Matrix, AfterValidator(_rotation), Tag("matrix")]
        | Annotated[AxisAngle, Tag("axis-angle")]
        | Annotated[RollPitchYaw, Tag("roll-pitch-yaw")]
        | Annotated[EulerAngles, Tag("euler-angles")]
        | Annotated[RotationVector, Tag("rotation-vector")],
        Discriminator(
            _attitude_form,
            custom_error_type="attitude",
            custom_error_message="give a quaternion x y z w, a 3 x 3 matrix, axis and angle, roll, pitch and yaw, "
            "euler and angles, or a rotation_vector",
        ),
    ]


@described
class Pose:
    """Where a body is and how it is rotated: the start of a floating joint."""

    position: Vector = (0.0, 0.0, 0.0)  # of the body's origin in the parent frame [m]
    attitude: Attitude = (0.0, 0.0, 0.0, 1.0)  # of its axes against the parent frame's


def attitude_matrix(attitude: Any) -> NDArray[np.float64]:
    """R rotating components in the named axes into the reference axes."""
    if isinstance(attitude, AxisAngle):
        return rotation_matrix(np.array(attitude.axis) / np.linalg.norm(attitude.axis), attitude.angle)
    if isinstance(attitude, RollPitchYaw):
        return euler_matrix("xyz", (attitude.roll, attitude.pitch, attitude.yaw), is_fixed=True)
    if isinstance(attitude, EulerAngles):
        return euler_matrix(attitude.euler, attitude.angles, attitude.about == "fixed")
    if isinstance(attitude, RotationVector):
        return rotation_vector_matrix(attitude.rotation_vector)
    return quaternion_matrix(attitude) if len(attitude) == 4 else _orthonormal(np.array(attitude, dtype=float))


def _orthonormal(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest rotation to a matrix written with few digits (two Newton steps of the polar factor)."""
    for _ in range(2):
        R = 0.5 * R @ (3 * np.eye(3) - R.T @ R)
    return R
