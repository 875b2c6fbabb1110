"""An arm written as Denavit-Hartenberg rows, classic or modified: its joints, the frames of its rows, its bodies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pliant.model.bodies import Body, Frame, Inertia, Place
from pliant.model.joints import Joint
from pliant.model.messages import refuse
from pliant.model.quantities import Angle, Many, Name, NonNegative, Number, Vector, described
from pliant.model.rotations import rotation_matrix

Array = NDArray[np.float64]
X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


@described
class DHRow:
    """One row: a joint about (or along) z, the link that it carries, and the four parameters.

    theta of a revolute and d of a prismatic joint are their values where the joint's coordinate is 0. With mass the
    row makes the body, too; without, the body of that name is one of the model's."""

    name: Name  # of the joint
    a: Number = 0.0  # along x [m]
    alpha: Angle = 0.0  # about x [rad], or text like "90 deg"
    d: Number = 0.0  # along z [m]
    theta: Angle = 0.0  # about z [rad], or text like "90 deg"
    kind: Literal["revolute", "prismatic"] = "revolute"  # of joint
    body: Name | None = None  # that the joint carries; default: the joint's name with _link
    frame: Name | None = None  # name for the row's frame, if something refers to it
    mass: NonNegative | None = None  # of the body [kg]
    com: Vector | None = None  # its mass centre in the row's frame [m]
    inertia: Inertia | None = None  # about the mass centre, in axes of the row's frame [kg m^2]

    def __post_init__(self) -> None:
        refuse(_row_problems(self))

    @property
    def link(self) -> str:
        """Name of the body."""
        return self.body or f"{self.name}_link"


def _row_problems(row: DHRow) -> Iterator[str]:
    for field in ("com", "inertia"):
        if row.mass is None and getattr(row, field) is not None:
            yield f"{field} needs mass, with which the row makes its body; give mass, or give the body its {field}"


@described
class DenavitHartenberg:
    """A serial arm by rows. Transform from the frame of one row to that of the next:

    classic   Rot_z(theta) Trans_z(d) Trans_x(a) Rot_x(alpha): the frame of a row lies at the far end of its link
    modified  Rot_x(alpha) Trans_x(a) Rot_z(theta) Trans_z(d): the frame of a row lies at its joint (Craig)

    The frame of a body lies at its joint, as always: by the modified convention it is the row's."""

    rows: Annotated[Many[DHRow], Field(min_length=1)]  # from the base outward
    convention: Literal["classic", "modified"]  # of the rows
    parent: Place = "world"  # what carries the arm: a body or "world", or a frame given in place

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """One per row, along z of its parent frame."""
        parents = [self._root, *(Frame(row.link, *_placed(self._tail(row))) for row in self.rows[:-1])]
        return tuple(
            Joint(row.name, row.kind, row.link, _moved(parent, self._head(row)))
            for row, parent in zip(self.rows, parents, strict=True)
        )

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """The frames of rows that name theirs."""
        return tuple(Frame(row.link, *_placed(self._tail(row)), row.frame) for row in self.rows if row.frame)

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of rows with mass."""
        return tuple(self._body(row, row.mass) for row in self.rows if row.mass is not None)

    @property
    def _root(self) -> Frame:
        return self.parent if isinstance(self.parent, Frame) else Frame(self.parent)

    def _head(self, row: DHRow) -> Array:
        """From the frame before to the body's, with the joint's coordinate at 0."""
        along_z = _screw(Z, row.theta, row.d)
        return along_z if self.convention == "classic" else _screw(X, row.alpha, row.a) @ along_z

    def _tail(self, row: DHRow) -> Array:
        """From the body's frame to the row's."""
        return _screw(X, row.alpha, row.a) if self.convention == "classic" else np.eye(4)

    def _body(self, row: DHRow, mass: float) -> Body:
        T = self._tail(row)
        R, com = T[:3, :3], np.array(row.com or (0.0, 0.0, 0.0))
        centre: Any = (R @ com + T[:3, 3]).tolist()
        inertia: Any = None
        if row.inertia is not None:
            rotated = R @ np.array(row.inertia) @ R.T
            inertia = (0.5 * (rotated + rotated.T)).tolist()
        return Body(row.link, mass, centre, inertia)


def _screw(axis: Array, angle: float, shift: float) -> Array:
    """(4, 4): a rotation about an axis and a shift along it."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation_matrix(axis, angle), shift * axis
    return T


def _placed(T: Array) -> tuple[Any, Any]:
    return T[:3, 3].tolist(), T[:3, :3].tolist()


def _moved(frame: Frame, T: Array) -> Frame:
    """A frame that a transform moves, in its own axes."""
    start = np.eye(4)
    start[:3, :3], start[:3, 3] = frame.matrix, frame.position
    return Frame(frame.body, *_placed(start @ T))
