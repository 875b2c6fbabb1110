"""What the columns of a result are called, and their units: coordinates, velocities, outputs, commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pliant.model.contact_points import contact_points
from pliant.model.tree import motor_links

if TYPE_CHECKING:
    from pliant.model.model import Model, Output


@dataclass(frozen=True)
class Column:
    """One column of numbers."""

    name: str  # "elbow", "elbow.rate", "tip.x"
    unit: str  # "" for pure numbers
    kind: str = ""  # of coordinates and velocities: angle, length, other, deflection, twist
    part: str = ""  # of outputs: which component


UNITS = {"angle": "rad", "length": "m", "other": "", "deflection": "m", "twist": "rad"}  # by kind of coordinate
FORCES = {"angle": "N m", "length": "N"}  # by kind of velocity
PARTS = {  # components and units of outputs whose columns are always the same
    "position": {"x": "m", "y": "m", "z": "m"},
    "velocity": {"x": "m/s", "y": "m/s", "z": "m/s"},
    "acceleration": {"x": "m/s^2", "y": "m/s^2", "z": "m/s^2"},
    "angular_velocity": {"x": "rad/s", "y": "rad/s", "z": "rad/s"},
    "attitude": {"qx": "", "qy": "", "qz": "", "qw": ""},
    "reaction": {"fx": "N", "fy": "N", "fz": "N", "mx": "N m", "my": "N m", "mz": "N m"},
    "section": {"N": "N", "Vy": "N", "Vz": "N", "T": "N m", "My": "N m", "Mz": "N m"},
    "strain": {"axial": "", "curvature_y": "1/m", "curvature_z": "1/m", "twist": "1/m", "outer_fibre": ""},
    "stress": {"outer_fibre": "Pa"},
}
SPRING_PARTS = {"force": "N", "length": "m", "rate": "m/s"}  # of springs between two places


def coordinate_columns(model: Model) -> tuple[Column, ...]:
    """Of q."""
    found = [(name, kind) for link in model.links for name, kind in _coordinate_kinds(link)]
    return tuple(Column(name, UNITS[kind], kind) for name, kind in found)


def velocity_columns(model: Model) -> tuple[Column, ...]:
    """Of v."""
    found = [(name, kind) for link in model.links for name, kind in _velocity_kinds(link)]
    return tuple(Column(f"{name}.rate", f"{UNITS[kind]}/s", kind) for name, kind in found)


def output_columns(model: Model, output: Output) -> tuple[Column, ...]:
    """Of one output."""
    parts = [*_output_parts(model, output)]
    if len(parts) == 1:
        return (Column(output.name, parts[0][1], part=parts[0][0]),)
    return tuple(Column(f"{output.name}.{part}", unit, part=part) for part, unit in parts)


def command_columns(model: Model) -> tuple[Column, ...]:
    """Of what the controllers command, in the order of Result.inputs."""
    links, springs = motor_links(model.links), {spring.name for spring in model.springs}
    found: list[tuple[str, str]] = []
    for name in (name for controller in model.controllers for name in controller.joints):
        found += [(name, "length")] if name in springs else _joint_kinds(links[name])
    return tuple(Column(f"{name}.command", FORCES[kind], kind) for name, kind in found)


def _output_parts(model: Model, output: Output) -> Iterator[tuple[str, str]]:
    if output.quantity in PARTS:
        yield from PARTS[output.quantity].items()
    elif output.quantity == "spring" and output.of in {spring.name for spring in model.springs}:
        yield from SPRING_PARTS.items()
    elif output.quantity in ("contact", "gap"):
        contact = next(contact for contact in model.contacts if contact.name == output.of)
        for point in contact_points(model, contact):
            if output.quantity == "gap":
                yield point.name, "m"
            else:
                yield from ((f"{point.name}.{part}", "N") for part in ("normal", "x", "y", "z"))
    else:
        link = next(link for link in model.links if link.joint.name == output.of)
        for part, (_, kind) in zip(link.joint.row.velocities, _joint_kinds(link), strict=True):
            yield part or output.quantity, FORCES[kind]


def _coordinate_kinds(link: Any) -> Iterator[tuple[str, str]]:
    joint = link.joint
    for part, is_angle in zip(joint.row.coordinates, joint.row.angles, strict=True):
        kind = "angle" if is_angle else "other" if part.startswith("q") else "length"
        yield (f"{joint.name}.{part}" if part else joint.name), kind
    yield from _mode_kinds(link)


def _joint_kinds(link: Any) -> Iterator[tuple[str, str]]:
    joint, row = link.joint, link.joint.row
    for k, part in enumerate(row.velocities):
        is_angle = row.angles[k] if row.has_plain_rates else part.startswith("w")
        yield (f"{joint.name}.{part}" if part else joint.name), "angle" if is_angle else "length"


def _velocity_kinds(link: Any) -> Iterator[tuple[str, str]]:
    yield from _joint_kinds(link)
    yield from _mode_kinds(link)


def _mode_kinds(link: Any) -> Iterator[tuple[str, str]]:
    """Deflections, and the angles of torsion, which come last."""
    body = link.body
    for k in range(body.n_modes):
        yield f"{body.name}.mode{k + 1}", "twist" if k >= body.n_modes - body.families[3] else "deflection"
