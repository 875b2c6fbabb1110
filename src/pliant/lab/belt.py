"""A block on a belt under every friction law: force against speed, through zero speed, and stick-slip."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pliant.cases.contact_settings import friction_law
from pliant.lab.experiment import Experiment, Outcome, Run
from pliant.lab.friction_groups import friction_groups
from pliant.model.bodies import Body
from pliant.model.contacts import Contact, NormalLaw, Plane
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.model.signals import Signal, Sine, Table
from pliant.report_types import Finding, Lines
from pliant.result import Result

PRESS = 500.0  # [rad/s] critically damped bounce of the block on the belt: the normal force is soon the weight
SETTLED = 40.0 / PRESS  # [s] by then it is, to rounding
SWING = 2.0  # [s] period of the belt that swings
STIFF = 100.0  # [rad/s] of the block on its stiff spring
N_SPEEDS = 16  # per direction
N_POINTS = 1200  # of a curve
TAIL = 0.4  # last share of a run, in which amplitude and period are measured


def block(settings: Mapping[str, Any], law: str, belt: Signal, guide: Joint | None) -> Model:
    """A block on a belt that moves along x as prescribed. guide: how the block may move along x; None: not at all."""
    mass, g = settings["mass"], settings["gravity"]
    normal = NormalLaw("kelvin-voigt", mass * PRESS**2, damping=2.0 * mass * PRESS)
    up = Joint("up", "prismatic", "block", parent="slider" if guide else "world", axis=(0, 1, 0))
    bodies = (Body("belt", 1.0), *((Body("slider", 0.0),) if guide else ()), Body("block", mass))
    return Model(
        "belt",
        bodies,
        (
            Joint("drive", "prismatic", "belt", axis=(1, 0, 0), motion=belt),
            *((guide,) if guide else ()),
            up,
        ),
        gravity=(0.0, -g, 0.0),
        contacts=(
            Contact(
                "belt",
                normal,
                Plane("belt", (0, 1, 0)),
                ("block",),
                friction=friction_law({**settings, "friction_law": law}),
            ),
        ),
        outputs=(
            Output("force", "belt", "contact"),
            Output("block", "block", "velocity"),
            Output("belt_speed", "belt", "velocity"),
        ),
    )


def uniform(speed: float, duration: float) -> Table:
    """A motion at constant speed, beyond the end of a run: there a table comes to rest."""
    return Table((0.0, 2.0 * duration), (0.0, 2.0 * speed * duration))


def sprung(stiffness: float, damping: float = 0.0) -> Joint:
    return Joint("along", "prismatic", "slider", axis=(1, 0, 0), stiffness=stiffness, damping=damping)


# --- force against speed ----------------------------------------------------------------------------------------


def speeds(settings: Mapping[str, Any]) -> list[float]:
    """Both signs, closer together near 0, up to twice the speed of the belt; among them those of the table."""
    sizes = 2.0 * settings["belt_speed"] * (np.arange(1, N_SPEEDS + 1) / N_SPEEDS) ** 1.5
    sizes = np.union1d(sizes, table_speeds(settings))
    return [float(v) for v in (*-sizes[::-1], *sizes)]


def table_speeds(settings: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(share * settings["belt_speed"] for share in (0.2, 1.0, 2.0))


def plan_force(settings: Mapping[str, Any]) -> dict[Any, Run]:
    """At every speed a block that is held, and per law one on a stiff spring on a belt that swings to and fro."""
    runs: dict[Any, Run] = {}
    weight, top = settings["mass"] * settings["gravity"], 2.0 * settings["belt_speed"]
    for law in settings["friction_laws"]:
        row = friction_law({**settings, "friction_law": law})
        assert row is not None
        for v in speeds(settings):
            # a block that is held cannot stick
            if abs(v) > 2.0 * row.value("stick_speed"):
                bending = settings["mu_s"] * weight / (settings["sigma0"] * abs(v)) if row.has_states() else 0.0
                time = SETTLED + 40.0 * bending
                runs[law, v] = Run(block(settings, law, uniform(v, time), None), time, last_force)
        omega = 2.0 * math.pi / SWING
        guide = sprung(settings["mass"] * STIFF**2, 2.0 * settings["mass"] * STIFF)
        runs[law, "swing"] = Run(
            block(settings, law, Sine(top / omega, omega), guide), 1.25 * SWING, through_zero(top / 8)
        )
    return runs


def last_force(result: Result) -> float:
    return float(result.outputs["force"][-1, 1])


def through_zero(near: float) -> Callable[[Result], dict[str, Any]]:
    """Measures the force over the last whole swing, and keeps what is at speeds of sliding up to `near`."""

    def measure(result: Result) -> dict[str, Any]:
        # just before events too: there forces are largest
        before = [event.t - 1e-9 for event in result.events]
        t = np.union1d(np.linspace(0.25 * SWING, 1.25 * SWING, 10 * N_POINTS), before)
        at = result.outputs_at(t[t >= 0.25 * SWING])
        v, force = at["belt_speed"][:, 0] - at["block"][:, 0], at["force"][:, 1]
        inside = np.abs(v) <= near
        # one point beyond each end, without value: the gap of the curve
        kept = inside | np.roll(inside, 1)
        return {
            "speed": np.clip(v[kept], -near, near),
            "force": np.where(inside, force, np.nan)[kept],
            "peak": float(np.max(np.abs(force))),
        }

    return measure


def conclude_force(settings: Mapping[str, Any], measured: dict[Any, Any]) -> tuple[Outcome, ...]:
    laws = settings["friction_laws"]
    swings = {law: measured[law, "swing"] for law in laws}
    steady: dict[str, tuple[Any, Any]] = {}
    for law in laws:
        speed = np.array([v for name, v in measured if name == law and v != "swing"])
        steady[law] = speed, np.array([measured[law, float(v)] for v in speed])
    charts: list[Lines] = []
    for title, members in friction_groups(laws).items():
        slide = tuple((law, *steady[law]) for law in members)
        swing = tuple((law, swings[law]["speed"], swings[law]["force"]) for law in members)
        charts += [
            Lines(f"Steady sliding, {title}", "N", "speed", "m/s", slide),
            Lines(f"Through zero, {title}", "N", "speed", "m/s", swing),
        ]
    places = table_speeds(settings)
    rows = tuple((law, *(_shown(measured.get((law, v))) for v in places), f"{swings[law]['peak']:.4f}") for law in laws)
    numbers = [
        {
            "law": law, "speed": steady[law][0], "force": steady[law][1], "swing_peak": swings[law]["peak"],
            "swing_speed": swings[law]["speed"], "swing_force": swings[law]["force"],
        }
        for law in laws
    ]  # fmt: skip
    N = settings["mass"] * settings["gravity"]
    text = (
        f"A block of {settings['mass']:g} kg lies on a belt: N = {N:.5g} N, mu_k N = {settings['mu_k'] * N:.4g} N, "
        f"mu_s N = {settings['mu_s'] * N:.4g} N. Left: the block is held and the belt runs at constant speed. "
        "Right: the belt swings and the block hangs on a stiff spring. Laws that stick show a vertical line at zero "
        "speed: the force is whatever holds (karnopp sticks already below its stick speed). Smoothed laws need some "
        "speed for any force, so they creep. Bristles give a loop: the force depends on the way since the reversal."
    )
    columns = ("law", *(f"force at {v:g} m/s [N]" for v in places), "largest on the swinging belt [N]")
    finding = Finding("Friction against speed", text, columns, rows, tuple(charts), (1, 2, 3, 4))
    return (Outcome(finding, numbers),)


def _shown(force: float | None) -> str:
    return "sticks" if force is None else f"{force:.4f}"


FORCE = Experiment("friction", plan_force, conclude_force)


# --- stick-slip -------------------------------------------------------------------------------------------------


def plan_slip(settings: Mapping[str, Any]) -> dict[Any, Run]:
    duration, speed = settings["belt_time"], settings["belt_speed"]
    # no slower than the creep of the smoothed laws
    slow = max(0.015 * speed, settings["v0"])

    def watch(result: Result) -> dict[str, Any]:
        return measure_cycle(result, speed, slow, 5.0 * natural_period(settings))

    return {
        law: Run(block(settings, law, uniform(speed, duration), sprung(settings["spring"])), duration, watch)
        for law in settings["friction_laws"]
    }


def natural_period(settings: Mapping[str, Any]) -> float:
    return 2.0 * math.pi * math.sqrt(settings["mass"] / settings["spring"])


def measure_cycle(result: Result, belt: float, slow: float, shown: float) -> dict[str, Any]:
    """Amplitude, period and share of sticking in the tail of a run; the first `shown` seconds and the last cycle."""
    column = result.model.coordinates.index("along")
    end = float(result.t[-1])

    def motion(start: float, stop: float) -> tuple[Any, Any, Any]:
        t = np.linspace(start, stop, 20001)
        q, v = result.at(t)
        return t, q[:, column], v[:, column]

    t, x, v = motion((1.0 - TAIL) * end, end)
    earlier = motion((1.0 - 2.0 * TAIL) * end, (1.0 - TAIL) * end)[1]
    amplitude, middle = 0.5 * float(np.ptp(x)), 0.5 * float(np.max(x) + np.min(x))
    up = np.flatnonzero((x[:-1] < middle) & (x[1:] >= middle))
    rises = t[up] + (middle - x[up]) / (x[up + 1] - x[up]) * (t[1] - t[0])
    period = float(np.mean(np.diff(rises))) if len(rises) > 1 else math.nan
    share = float(np.mean(np.abs(v - belt) <= slow))
    growth = amplitude / (0.5 * float(np.ptp(earlier)) or math.inf)
    if share > 0.98:
        fate = "rides along"
    elif growth < 0.9 or amplitude < 1e-6:
        fate = "dies out"
    elif share > 0.1:
        fate = "stick-slip"
    else:
        fate = "swings on"
    first = np.linspace(0.0, min(shown, end), N_POINTS)
    last = t >= (t[-1] - period if period == period else t[0])
    thin = slice(None, None, max(1, int(np.sum(last)) // 600))
    return {
        "fate": fate, "amplitude": amplitude, "period": period, "sticking": share, "growth": growth,
        "t": first, "x": result.at(first)[0][:, column], "cycle_x": x[last][thin], "cycle_v": v[last][thin],
    }  # fmt: skip


def conclude_slip(settings: Mapping[str, Any], measured: dict[Any, Any]) -> tuple[Outcome, ...]:
    rows = tuple(
        (
            law,
            found["fate"],
            f"{1e3 * found['amplitude']:.4g}",
            f"{found['period']:.5g}" if found["period"] == found["period"] else "",
            f"{100 * found['sticking']:.0f}",
        )
        for law, found in measured.items()
    )
    charts: list[Lines] = []
    for title, members in _by_fate(measured).items():
        moves = tuple((law, measured[law]["t"], measured[law]["x"]) for law in members)
        cycles = tuple((law, measured[law]["cycle_x"], measured[law]["cycle_v"]) for law in members)
        charts += [
            Lines(f"Place of the block at first, {title}", "m", "time", "s", moves),
            Lines(f"Last cycle, {title}", "m/s", "place", "m", cycles),
        ]
    named = {fate: [law for law in measured if measured[law]["fate"] == fate] for fate in FATES}
    text = (
        f"A block of {settings['mass']:g} kg on a spring of {settings['spring']:g} N/m is carried off by a belt at "
        f"{settings['belt_speed']:g} m/s; alone it would swing with a period of {natural_period(settings):.4g} s. "
        + " ".join(FATES[fate].format(", ".join(laws)) for fate, laws in named.items() if laws)
        + " On the last cycle, sticking is the flat piece at the speed of the belt."
    )  # fmt: skip
    columns = ("law", "what happens", "amplitude [mm]", "period [s]", "sticking [% of the time]")
    finding = Finding("Stick-slip on a belt", text, columns, rows, tuple(charts), (2, 3, 4))
    numbers = [{"law": law, **found} for law, found in measured.items()]
    return (Outcome(finding, numbers),)


FATES = {
    "stick-slip": "It sticks and slips for ever with {}: these let go at a larger force than they slide with.",
    "swings on": "It swings on without sticking with {}: nothing feeds the swing, and little or nothing damps it.",
    "dies out": "The swing dies out with {}.",
    "rides along": "It rides along all the time with {}.",
}


def _by_fate(measured: dict[Any, Any]) -> dict[str, list[str]]:
    slip = [law for law in measured if measured[law]["fate"] == "stick-slip"]
    found = {"stick-slip": slip, "the other laws": [law for law in measured if law not in slip]}
    return {title: members for title, members in found.items() if members}


STICK_SLIP = Experiment("stick_slip", plan_slip, conclude_slip)
