"""Andrews' squeezer: seven plane bodies in three loops, a spring, and a drive that turns the crank twice in 30 ms
[schiehlen1990, hairer1996]."""

from __future__ import annotations

import math
from typing import Any

from pliant.cases.case import Case, Setting
from pliant.model.attitudes import AxisAngle
from pliant.model.bodies import Body, Frame, Rod, Surface
from pliant.model.joints import Joint
from pliant.model.loops import Loop
from pliant.model.model import Model, Output
from pliant.model.signals import Constant
from pliant.report_types import Figure, Panel
from pliant.result import Result

SOURCE = (
    "Schiehlen 1990, Multibody Systems Handbook; Mazzia, Magherini 2008, Test Set for IVP Solvers: Andrews' squeezer"
)
END = 0.03  # [s], where the reference is
SETTINGS = {
    "torque": Setting(0.033, "of the drive on the crank", "N m"),
    "stiffness": Setting(4530.0, "of the spring", "N/m", low=0.0),
    "rest": Setting(0.07785, "length of the relaxed spring", "m", low=0.0),
    "beta": Setting(-0.0617138900142764496, "crank K1 at the start", "rad"),
    "duration": Setting(END, "of the motion", "s", low=1e-9),
}

# fixed points, lengths [m], masses [kg], inertias [kg m^2]: names of the Handbook
A, B, C = (-0.06934, -0.00227, 0.0), (-0.03635, 0.03273, 0.0), (0.014, 0.072, 0.0)
D, DA, E, EA, RR, RA = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
SS, SA, SB, SC, SD = 0.035, 0.01874, 0.01043, 0.018, 0.02
TA, TB, U, UA, UB, ZF, ZT, FA = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
# Theta, gamma, Phi, delta, Omega, epsilon that go with the start of beta; at other starts the loops are closed anew
START = (0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550, -0.222668390165885885,
         1.23054744454982119)  # fmt: skip
# angles and rates at END by PSIDE with tolerances of 1e-14
PUBLISHED = {
    "beta": (15.81077119629904, 1139.920302151208),
    "Theta": (-15.75637105984298, -1424.379294994111),
    "gamma": (0.04082224013073101, 11.03291221937134),
    "Phi": (-0.5347301163226948, 19.29337464421385),
    "delta": (0.5244099658805304, 0.5735699284790808),
    "Omega": (0.5347301163226948, -19.29337464421385),
    "epsilon": (1.048080741042263, 0.3231791658026955),
}
# K2 carries all three pins: the sum of the published multipliers [N]
PUBLISHED_PIN = math.hypot(
    199.1753333731910 + 23.06654119098399 + 22.64249232082739,
    -29.75531228015052 + 31.45271365475927 + 11.61740700019673,
)
# Our figures and an independent integration by SciPy (tests/support/squeezer_reference.py) agree to 1e-12 rad, and both
# are 1.1e-9 rad away from the published crank angle: these are the digits the published reference has.
ANGLE_DIGITS, RATE_DIGITS, FORCE_DIGITS = 2e-9, 1e-6, 5e-5  # [rad], [rad/s], [N]


# --- model ------------------------------------------------------------------------------------------------------


def build(settings: dict[str, Any]) -> Model:
    theta, gamma, phi, delta, omega, epsilon = START
    swing, length, clevis = _spring_pose(gamma)
    around, down = AxisAngle("z", math.pi), AxisAngle("z", -math.pi / 2)
    joints = (
        Joint("beta", "revolute", "K1", q0=settings["beta"], motor=Constant(settings["torque"])),
        Joint("Theta", "revolute", "K2", parent=Frame("K1", (RR, 0, 0), around), q0=theta),
        # K3 hangs on its spring, B is a pin: so a spring between two points is that of a joint
        Joint("swing", "revolute", "cylinder", parent=Frame("world", C), q0=swing),
        Joint("spring", "prismatic", "piston", parent="cylinder", axis="x", q0=length,
              stiffness=settings["stiffness"], rest=settings["rest"]),
        Joint("clevis", "revolute", "K3", parent="piston", q0=clevis),
        Joint("delta", "revolute", "K5", parent=Frame("world", A), q0=delta),
        Joint("Phi", "revolute", "K4", parent=Frame("K5", (ZT, 0, 0), down), q0=phi),
        Joint("epsilon", "revolute", "K7", parent=Frame("world", A, down), q0=epsilon),
        Joint("Omega", "revolute", "K6", parent=Frame("K7", (U, 0, 0), AxisAngle("z", math.pi / 2)), q0=omega),
    )  # fmt: skip
    meet = Frame("K3", (-SD, SC - SS, 0))
    pins = {"K2": D, "K4": E, "K6": ZF}
    return Model(
        name="andrews-squeezer",
        gravity=(0.0, 0.0, 0.0),
        bodies=_bodies(),
        joints=joints,
        loops=(
            Loop("B", "revolute", first=Frame("world", B), second=Frame("K3", (-SD, SC, 0))),
            *(Loop(f"pin_{k}", "revolute", first=meet, second=Frame(k, (x, 0, 0))) for k, x in pins.items()),
        ),
        keep=("beta",),
        outputs=(
            Output("pin_K2_force", "pin_K2", "reaction"),
            Output("B_force", "B", "reaction"),
            Output("spring_force", "spring", "spring"),
        ),
        duration=settings["duration"],
    )


def _bodies() -> tuple[Body, ...]:
    """Rods lie along x of their body; of K3 the origin is where the spring takes hold."""
    centres = ((RA, 0), (DA, 0), (SB - SD, SC - SA), (E - EA, 0), (TA, TB), (ZF - FA, 0), (UB, -UA))
    lengths = (RR, D, None, E, ZT, ZF, U)
    triangle = Surface(((0, 0, 0), (-SD, SC, 0), (-SD, SC - SS, 0)), ((0, 1, 2),))
    bodies = [
        Body(f"K{k + 1}", mass=m, com=(*centre, 0.0), inertia=(0.5 * inertia, 0.5 * inertia, inertia),
             shape=Rod(length) if length else None, visual=() if length else (triangle,))
        for k, (m, inertia, centre, length) in enumerate(zip(MASSES, INERTIAS, centres, lengths, strict=True))
    ]  # fmt: skip
    return (*bodies, Body("cylinder", mass=0.0), Body("piston", mass=0.0))


def _spring_pose(gamma: float) -> tuple[float, float, float]:
    """Direction and length of the spring from C, and K3 against it."""
    x = B[0] + SD * math.cos(gamma) + SC * math.sin(gamma) - C[0]
    y = B[1] + SD * math.sin(gamma) - SC * math.cos(gamma) - C[1]
    return math.atan2(y, x), math.hypot(x, y), gamma - math.atan2(y, x)


# --- figures ----------------------------------------------------------------------------------------------------


def figures(result: Result) -> dict[str, float]:
    """The angles of the reference at the end, and its rates."""
    columns = {name: k for k, name in enumerate(result.model.coordinates)}
    found = {}
    for name in PUBLISHED:
        where = [columns[part] for part in (("swing", "clevis") if name == "gamma" else (name,))]
        found[name] = float(result.q[-1, where].sum())
        found[f"{name}_rate"] = float(result.v[-1, where].sum())
    found["pin_force"] = math.hypot(*(float(x) for x in result.outputs["pin_K2_force"][-1, :2]))
    found["spring_length"] = float(result.q[-1, columns["spring"]])
    return found


def _figures() -> dict[str, Figure]:
    words = {"beta": "crank K1", "Theta": "K2 on K1", "gamma": "K3", "Phi": "K4 on K5", "delta": "K5",
             "Omega": "K6 on K7", "epsilon": "K7"}  # fmt: skip
    made = {}
    for name, (angle, rate) in PUBLISHED.items():
        made[name] = Figure(f"{words[name]} at the end", "rad", angle, ANGLE_DIGITS, SOURCE)
        made[f"{name}_rate"] = Figure(f"its rate, {words[name]}", "rad/s", rate, RATE_DIGITS, SOURCE)
    made["pin_force"] = Figure(
        "force on K2 where K2, K3, K4, K6 meet, at the end", "N", PUBLISHED_PIN, FORCE_DIGITS, SOURCE
    )
    made["spring_length"] = Figure("length of the spring at the end", "m")
    return made


def panels(settings: dict[str, Any]) -> tuple[Panel, ...]:
    slow = ("Phi", "delta", "Omega", "epsilon")
    return (
        Panel("Crank and its rod", "rad", (("beta", "beta"), ("Theta", "Theta"))),
        Panel("The other angles", "rad", tuple((name, name) for name in slow)),
        Panel("Speed of the crank", "rad/s", (("beta", "beta.rate"),)),
        Panel("Length of the spring", "m", (("spring", "spring"),)),
        Panel("Force of K3 on K2, axes of K2", "N", (("x", "pin_K2_force[0]"), ("y", "pin_K2_force[1]"))),
    )


CASE = Case(
    name="andrews-squeezer",
    title="Andrews' squeezer: seven bodies, three loops, a spring",
    source=SOURCE,
    settings=SETTINGS,
    build=build,
    figures=figures,
    figure_table=_figures(),
    panels=panels,
    run={"rtol": 1e-12, "atol": 1e-13},
)
