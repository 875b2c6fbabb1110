"""How a robot description becomes a model: what its file does not say, or says in more than one way."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any, Literal

from pliant.model.quantities import NonNegative, Positive, Vector, described


@described
class RobotSettings:
    """Settings of robot files, for load(file, ...), --set and the [robot] table of a sidecar."""

    base: Literal["fixed", "planar", "floating"] = "fixed"  # how the root link is held
    gravity: Vector | None = None  # [m/s^2]; default (0, 0, -9.81), or what the file says
    limits: Literal["record", "end", "stop", "ignore"] = "record"  # what the ends of a joint's range do
    stop_stiffness: Positive = 1e4  # of limits = "stop" [N m/rad, N/m]
    stop_damping: NonNegative = 10.0  # of limits = "stop" [N m s/rad, N s/m]
    mimic: Literal["refuse", "free", "fixed"] = "refuse"  # joints that follow another
    inertia: Literal["check", "keep"] = "check"  # whether inertias that no body can have are refused or kept
    unsupported: Literal["refuse", "drop"] = "refuse"  # what a model cannot hold (MJCF)


NAMES = tuple(field.name for field in fields(RobotSettings))  # type: ignore[arg-type]


def robot_settings(given: dict[str, Any]) -> RobotSettings:
    """Checked settings; numbers and lists may be text, as on the command line: gravity=0,0,-1.62."""
    return RobotSettings(**{key: _value(value) for key, value in given.items()})


def _value(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    words = re.split(r"[\s,]+", value.strip("[]() "))
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return value
    return numbers if len(numbers) > 1 else numbers[0]
