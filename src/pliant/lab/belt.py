"""A block on a belt under every friction law: force against speed, through zero speed, and stick-slip."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.cases.case import Finding, Lines
from pliant.cases.contact_settings import friction_law
from pliant.lab.experiment import Experiment, Outcome, Run
from pliant.lab.friction_groups import friction_groups
from pliant.model.bodies import Body
from pliant.model.contacts import FRICTION_LAWS, Contact, NormalLaw, Plane
from pliant.model.joints import Joint
from pliant.model.model import Model, Output
from pliant.model.signals import Signal, Sine, Table
from pliant.result import Result

PRESS = 500.0  # [rad/s] critically damped bounce of the block on the belt: the normal force is soon the weight
SETTLED = 40.0 / PRESS  # [s] by then it is, to rounding
SWING = 2.0  # [s] period of the belt that swings
STIFF = 100.0  # [rad/s] of the block on its stiff spring
N_SPEEDS = 16  # per direction
N_POINTS = 1200  # of a curve over time
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
    """Both signs, closer together near 0, up to twice the speed of the belt."""
    way = 2.0 * settings["belt_speed"] * (np.arange(1, N_SPEEDS + 1) / N_SPEEDS) ** 1.5
    return [float(v) for v in (*-way[::-1], *way)]


def plan_force(settings: Mapping[str, Any]) -> dict[Any, Run]:
    """At every speed a block that is held, and per law one on a stiff spring on a belt that swings to and fro."""
    runs: dict[Any, Run] = {}
    weight, top = settings["mass"] * settings["gravity"], 2.0 * settings["belt_speed"]
    for law in settings["friction_laws"]:
        row = FRICTION_LAWS[law]
        for v in speeds(settings):
            # a block that is held cannot stick
            if abs(v) > 2.0 * dict(row.may).get("stick_speed", 0.0):
                bending = settings["mu_s"] * weight / (settings["sigma0"] * abs(v)) if row.has_states else 0.0
                time = SETTLED + 40.0 * bending
                runs[law, v] = Run(block(settings, law, uniform(v, time), None), time, last_force)
        omega = 2.0 * math.pi / SWING
        guide = sprung(settings["mass"] * STIFF**2, 2.0 * settings["mass"] * STIFF)
        runs[law, "swing"] = Run(block(settings, law, Sine(top / omega, omega), guide), 1.25 * SWING, through_zero)
    return runs


def last_force(result: Result) -> float:
    return float(result.outputs["force"][-1, 1])


def through_zero(result: Result) -> Any:
    """(speed of sliding, force) over the last whole swing, at accepted steps (among them all events) and between."""
    t = np.linspace(0.25 * SWING, 1.25 * SWING, N_POINTS)
    t = np.union1d(t, result.t[result.t >= t[0]])
    at = result.outputs_at(t)
    return at["belt_speed"][:, 0] - at["block"][:, 0], at["force"][:, 1]


def conclude_force(settings: Mapping[str, Any], measured: dict[Any, Any]) -> tuple[Outcome, ...]:
    laws, belt = settings["friction_laws"], settings["belt_speed"]
    steady = {law: [(v, f) for (name, v), f in measured.items() if name == law and v != "swing"] for law in laws}
    near = 0.25 * belt
    charts: list[Lines] = []
    for title, members in friction_groups(laws).items():
        points = tuple((law, *map(np.array, zip(*steady[law], strict=True))) for law in members)
        swings = tuple((law, *_within(*measured[law, "swing"], near)) for law in members)
        charts += [
            Lines(f"Steady sliding, {title}", "N", "speed", "m/s", points),
            Lines(f"Through zero, {title}", "N", "speed", "m/s", swings),
        ]
    rows, numbers = [], []
    for law in laws:
        speed, force = (np.array(column) for column in zip(*steady[law], strict=True))
        v, f = measured[law, "swing"]
        low, high = np.interp([0.2 * belt, 2.0 * belt], speed, force)
        odd = float(np.max(np.abs(force + force[::-1])))
        peak = float(np.max(np.abs(f)))
        numbers.append(
            {"law": law, "speed": speed, "force": force, "swing_speed": v, "swing_force": f, "swing_peak": peak}
        )
        rows.append((law, f"{low:.4f}", f"{high:.4f}", f"{peak:.4f}", f"{odd:.0e}"))
    weight = settings["mass"] * settings["gravity"]
    text = (
        f"A block of {settings['mass']:g} kg lies on a belt: N = {weight:.5g} N, mu_k N = {settings['mu_k'] * weight:.4g} N, "
        f"mu_s N = {settings['mu_s'] * weight:.4g} N. Left: the block is held and the belt runs at constant speed. "
        "Right: the belt swings and the block hangs on a stiff spring. Laws that stick show a vertical line at zero speed: "
        "the force is whatever holds. Smoothed laws need some speed for any force, so they creep. Bristles give a loop: the "
        "force depends on the way since the turn."
    )  # fmt: skip
    columns = (
        "law", f"force at {0.2 * belt:g} m/s [N]", f"at {2 * belt:g} m/s [N]", "largest on the swinging belt [N]",
        "largest f(v) + f(-v) [N]",
    )  # fmt: skip
    finding = Finding("Friction against speed", text, columns, tuple(rows), tuple(charts), (1, 2, 3, 4))
    return (Outcome(finding, numbers),)


def _within(v: Any, f: Any, near: float) -> Any:
    """The part of a curve at low speed; the rest leaves gaps."""
    return np.clip(v, -near, near), np.where(np.abs(v) <= near, f, np.nan)


FORCE = Experiment("friction", plan_force, conclude_force)


# --- stick-slip -------------------------------------------------------------------------------------------------


def plan_slip(settings: Mapping[str, Any]) -> dict[Any, Run]:
    duration, speed = settings["belt_time"], settings["belt_speed"]
    # no slower than the creep of the smoothed laws
    slow = max(0.015 * speed, settings["v0"])

    def watch(result: Result) -> dict[str, Any]:
        return measure_cycle(result, speed, slow)

    return {
        law: Run(block(settings, law, uniform(speed, duration), sprung(settings["spring"])), duration, watch)
        for law in settings["friction_laws"]
    }


def measure_cycle(result: Result, belt: float, slow: float) -> dict[str, Any]:
    """Amplitude, period and share of sticking in the tail of a run, and its curves."""
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
    whole = np.linspace(0.0, end, N_POINTS)
    last = t >= (t[-1] - period if period == period else t[0])
    thin = slice(None, None, max(1, int(np.sum(last)) // 600))
    return {
        "fate": fate, "amplitude": amplitude, "period": period, "sticking": share, "growth": growth,
        "t": whole, "x": result.at(whole)[0][:, column], "cycle_x": x[last][thin], "cycle_v": v[last][thin],
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
            Lines(f"Place of the block, {title}", "m", "time", "s", moves),
            Lines(f"Last cycle, {title}", "m/s", "place", "m", cycles),
        ]
    natural = 2.0 * math.pi * math.sqrt(settings["mass"] / settings["spring"])
    named = {fate: [law for law in measured if measured[law]["fate"] == fate] for fate in FATES}
    text = (
        f"A block of {settings['mass']:g} kg on a spring of {settings['spring']:g} N/m is carried off by a belt at "
        f"{settings['belt_speed']:g} m/s; alone it would swing with a period of {natural:.4g} s. "
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
