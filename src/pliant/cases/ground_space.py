"""One arm on the ground and in space: the same slew with the base held (its reaction) and free (its drift)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.cases.case import Case, Setting, peak, vector_panel
from pliant.engine.prepared import prepare
from pliant.model.bodies import Body, Box, Frame, Tube
from pliant.model.joints import Joint
from pliant.model.model import Base, Model, Output
from pliant.model.signals import Cycloid
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = "Khoshnood, Azad, Razavi 2016: ground and space"
SETTINGS = {
    "base": Setting("floating", "the base is held by the ground, or flies freely", choices=("fixed", "floating")),
    "gravity": Setting(0.0, "gravity along -z", "m/s^2", low=0.0),
    "base_mass": Setting(120.0, "mass of the base, a cube", "kg", low=1e-6),
    "base_size": Setting(0.8, "edge of the base", "m", low=1e-6),
    "link_mass": Setting(8.0, "mass of each of the two long links", "kg", low=1e-6),
    "link_length": Setting(1.2, "length of each of the two long links", "m", low=1e-6),
    "payload": Setting(20.0, "mass of the payload box at the wrist", "kg", low=1e-6),
    "slew": Setting(
        float(np.pi / 2), "rotation of the shoulder; the elbow rotates back by as much, the wrist half", "rad"
    ),
    "slew_time": Setting(4.0, "duration of the slew", "s", low=1e-3),
}


def build(settings: dict[str, Any]) -> Model:
    size, length, payload = settings["base_size"], settings["link_length"], settings["payload"]
    slew, end = settings["slew"], settings["slew_time"]
    link = {"mass": settings["link_mass"], "shape": Tube(length, outer_radius=0.06, inner_radius=0.055)}
    return Model(
        name="ground-space",
        gravity=(0.0, 0.0, -settings["gravity"]),
        base=Base(kind=settings["base"]),
        bodies=(
            Body("base", settings["base_mass"], shape=Box((size, size, size))),
            Body("upper", **link),
            Body("fore", **link),
            Body("payload", payload, shape=Box((0.4, 0.3, 0.3), at=(0.2, 0.0, 0.0))),
        ),
        joints=(
            Joint(
                "shoulder",
                "revolute",
                "upper",
                parent=Frame("base", (size / 2, 0.0, size / 2)),
                motion=Cycloid(0.0, end, after=slew),
            ),
            Joint(
                "elbow",
                "revolute",
                "fore",
                parent=Frame("upper", (length, 0.0, 0.0)),
                axis=(0.0, 1.0, 0.0),
                motion=Cycloid(0.0, end, after=-slew),
            ),
            Joint(
                "wrist",
                "revolute",
                "payload",
                parent=Frame("fore", (length, 0.0, 0.0)),
                axis=(1.0, 0.0, 0.0),
                motion=Cycloid(0.0, end, after=slew / 2),
            ),
        ),
        outputs=(
            Output("base_position", "base", "position"),
            Output("base_attitude", "base", "attitude"),
            Output("base_reaction", "base", "reaction"),
            Output("payload_position", "payload", "position"),
            Output("shoulder_torque", "shoulder", "drive"),
            Output("elbow_torque", "elbow", "drive"),
            Output("wrist_torque", "wrist", "drive"),
        ),
        duration=1.5 * end,
    )


def figures(result: Result) -> dict[str, float]:
    handle = prepare(result.model)
    centres = np.array([handle.momentum(q, v).centre for q, v in zip(result.q, result.v, strict=True)])
    position = result.outputs["base_position"]
    turn = 2 * np.arccos(np.clip(np.abs(result.outputs["base_attitude"][:, 3]), 0, 1))
    return {
        "base_force_peak": peak(result, "base_reaction", slice(0, 3)),
        "base_moment_peak": peak(result, "base_reaction", slice(3, 6)),
        "base_drift": float(np.linalg.norm(position[-1] - position[0])),
        "base_turn": float(turn[-1]),
        "centre_drift": float(np.max(np.linalg.norm(centres - centres[0], axis=1))),
        "shoulder_torque_peak": peak(result, "shoulder_torque"),
        "drive_work": float(result.energy["work_drive"][-1]),
    }


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    angles = Panel("Joint angles", "rad", (("shoulder", "shoulder"), ("elbow", "elbow"), ("wrist", "wrist")))
    torques = Panel(
        "Drive torques",
        "N m",
        (("shoulder", "shoulder_torque[0]"), ("elbow", "elbow_torque[0]"), ("wrist", "wrist_torque[0]")),
    )
    payload = vector_panel("Position of the payload", "m", "payload_position")
    if settings["base"] == "floating":
        return angles, torques, vector_panel("Position of the base", "m", "base_position"), payload
    force = vector_panel("Force of the ground on the base", "N", "base_reaction")
    return angles, torques, force, vector_panel("Moment of the ground on the base", "N m", "base_reaction", 3), payload


CASE = Case(
    name="ground-space",
    title="the same arm with its base held by the ground and free in space",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table={
        "base_force_peak": Figure("largest force of the ground on the base (floating: none)", "N"),
        "base_moment_peak": Figure("largest moment of the ground on the base (floating: none)", "N m"),
        "base_drift": Figure("how far the base has moved at the end (fixed: none)", "m"),
        "base_turn": Figure("how far the base has rotated at the end (fixed: none)", "rad"),
        "centre_drift": Figure("largest shift of the mass centre; zero in space without gravity", "m"),
        "shoulder_torque_peak": Figure("largest drive torque of the shoulder", "N m"),
        "drive_work": Figure("work of all drives", "J"),
    },
    panels=panels,
    run={"rtol": 1e-10},
)
