"""A ball bounces on a plane under every normal law: restitution, loops of force over depth, times and peaks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.lab.experiment import Experiment, Outcome, Run
from pliant.model.bodies import Body
from pliant.model.contacts import Contact, NormalLaw
from pliant.model.joints import Joint
from pliant.model.model import Crossing, Model, Output
from pliant.model.normal_laws import NORMAL_LAWS
from pliant.report_types import Finding, Lines
from pliant.result import Result

SHOWN = (0.5, 0.8)  # requested restitutions of the table
N_LOOP = 400  # points of a loop
CLOSE = 0.02  # a law that misses by no more delivers what is asked


# --- closed formulas --------------------------------------------------------------------------------------------


def elastic_depth(mass: float, speed: float, K: float, n: float) -> float:
    """Largest depth without damping: m v^2/2 = K d^(n+1)/(n+1) [m]."""
    return float((0.5 * (n + 1.0) * mass * speed**2 / K) ** (1.0 / (n + 1.0)))


def elastic_time(mass: float, speed: float, K: float, n: float) -> float:
    """Time of contact without damping: 2 d/v int_0^1 dx/sqrt(1 - x^(n+1)) [s]; n = 3/2: 3.218 (m^2/(K^2 v))^(1/5)."""
    a = 1.0 / (n + 1.0)
    integral = math.sqrt(math.pi) * math.gamma(1.0 + a) / math.gamma(0.5 + a)
    return 2.0 * elastic_depth(mass, speed, K, n) / speed * integral


def restitution_of(X: float) -> float:
    """e of F = K d^n (1 + X d'/v): the root of ln((1 + X)/(1 - X e)) = X (1 + e)."""
    low, high = 0.0, 1.0 if X <= 1.0 else 1.0 / X
    while low < (e := 0.5 * (low + high)) < high:
        low, high = (e, high) if _gap(X, e) < 0.0 else (low, e)
    return high


def _gap(X: float, e: float) -> float:
    """(ln((1 + X)/(1 - X e)) - X (1 + e))/X^2, as a series where the difference would cancel."""
    if X < 0.1:
        return sum((e**k - (-1.0) ** k) / k * X ** (k - 2) for k in range(2, 30))
    return (math.log1p(X) - math.log1p(-X * e) - X * (1.0 + e)) / X**2 if X * e < 1.0 else math.inf


def damping_ratio(e: float) -> float:
    """zeta of kelvin-voigt by the textbook, as if a contact were half a period: e = exp(-pi zeta/sqrt(1 - zeta^2))."""
    return -math.log(e) / math.hypot(math.pi, math.log(e))


def expected_restitution(law: str, e: float) -> float:
    """What a law delivers by its closed formula."""
    if takes_damping(law):
        # the force vanishes, and the ball is let go, before half a period is over
        zeta = damping_ratio(e)
        return math.exp(-2.0 * zeta * math.acos(zeta) / math.sqrt(1.0 - zeta**2))
    factor = getattr(NORMAL_LAWS[law], "damping_factor", None)
    return 1.0 if factor is None else restitution_of(factor(e))


def takes_damping(law: str) -> bool:
    """In place of restitution."""
    return NORMAL_LAWS[law].takes() == ("damping",)


# --- runs -------------------------------------------------------------------------------------------------------


def normal_law(law: Any, e: float, settings: Mapping[str, Any]) -> NormalLaw:
    """A law that is asked for e. Linear laws get the stiffness with which they would go as deep as hertz."""
    row, mass, speed, K, n = NORMAL_LAWS[law], *(settings[key] for key in ("mass", "speed", "stiffness", "exponent"))
    if row.is_linear:
        K = mass * speed**2 / elastic_depth(mass, speed, K, n) ** 2
        damping = 2.0 * damping_ratio(e) * math.sqrt(K * mass) if takes_damping(law) else None
        return NormalLaw(law, K, damping=damping)
    return NormalLaw(law, K, n, restitution=e if "restitution" in row.takes() else None)


def ball(law: NormalLaw, mass: float, speed: float, height: float) -> Model:
    """A ball that flies down to the plane z = 0 without gravity; the run stops when it is back at its height."""
    return Model(
        "ball",
        (Body("ball", mass),),
        (Joint("flight", "prismatic", "ball", axis=(0, 0, 1), q0=height, v0=-speed),),
        gravity=(0, 0, 0),
        contacts=(Contact("ground", law, points=("ball",)),),
        crossings=(Crossing("back", "flight", height, "rising", "stop"),),
        outputs=(Output("force", "ground", "contact"), Output("gap", "ground", "gap")),
    )


def requested(settings: Mapping[str, Any]) -> list[float]:
    """The requested restitutions: evenly from above 0 to 1, those of the table, and the one of the loops."""
    steps = settings["sweep"]
    return sorted({*SHOWN, settings["restitution"], *(k / steps for k in range(1, steps + 1))})


def plan(settings: Mapping[str, Any]) -> dict[Any, Run]:
    mass, speed = settings["mass"], settings["speed"]
    depth = elastic_depth(mass, speed, settings["stiffness"], settings["exponent"])
    # slow bounces take long: the speed at the end is about e v
    return {
        (law, e): Run(
            ball(normal_law(law, e, settings), mass, speed, depth),
            100.0 * depth / (speed * e),
            measure_loop if e == settings["restitution"] else measure,
        )
        for law in settings["laws"]
        for e in requested(settings)
    }


def measure(result: Result) -> dict[str, Any]:
    contact = result.contacts[0]
    return {
        "delivered": float(contact.restitution_delivered),
        "time": float(contact.t_end - contact.t_start),
        "peak": float(contact.peak_normal),
    }


def measure_loop(result: Result) -> dict[str, Any]:
    contact = result.contacts[0]
    at = result.outputs_at(np.linspace(contact.t_start, contact.t_end, N_LOOP))
    return {**measure(result), "depth": -at["gap"][:, 0], "force": at["force"][:, 0], "work": float(contact.work)}


# --- what they say ----------------------------------------------------------------------------------------------


def evaluate(settings: Mapping[str, Any], measured: dict[Any, Any]) -> tuple[Outcome, ...]:
    return _restitution(settings, measured), _loops(settings, measured)


def curves(settings: Mapping[str, Any], measured: dict[Any, Any]) -> dict[str, Any]:
    """Delivered restitution of every law over what is requested."""
    asked = requested(settings)
    return {law: np.array([measured[law, e]["delivered"] for e in asked]) for law in settings["laws"]}


def groups(settings: Mapping[str, Any], measured: dict[Any, Any]) -> dict[str, list[str]]:
    """The laws by what they do: those that give back too much on average, and the others."""
    asked, delivered = np.array(requested(settings)), curves(settings, measured)
    many = [law for law in delivered if np.mean(delivered[law] - asked) > CLOSE]
    return {
        "more than asked": many,
        "about what is asked, or less": [law for law in delivered if law not in many],
    }


def _restitution(settings: Mapping[str, Any], measured: dict[Any, Any]) -> Outcome:
    asked, delivered = np.array(requested(settings)), curves(settings, measured)
    numbers = [
        {
            "law": law,
            "requested": e,
            "delivered": measured[law, e]["delivered"],
            "formula": expected_restitution(law, e),
            "difference": measured[law, e]["delivered"] - expected_restitution(law, e),
        }
        for law, e in measured
    ]
    worst = max(abs(row["difference"]) for row in numbers)
    rows = []
    for law in delivered:
        cells = [law]
        for e in SHOWN:
            found, formula = measured[law, e]["delivered"], expected_restitution(law, e)
            cells += [f"{found:.6f}", f"{formula:.6f}", f"{found - formula:.0e}"]
        rows.append((*cells, _range_words(asked, delivered[law])))
    columns = ["law"]
    for e in SHOWN:
        columns += [f"delivered at {e}", "formula", "difference"]
    charts: list[Lines] = []
    for title, laws in groups(settings, measured).items():
        if laws:
            diagonal = (("as asked", asked, asked),)
            lines = tuple((law, asked, delivered[law]) for law in laws)
            errors = tuple((law, asked, delivered[law] - asked) for law in laws)
            charts += [
                Lines(
                    f"Laws that deliver {title}",
                    "e delivered",
                    "e requested",
                    "-",
                    lines + diagonal,
                    False,
                    ("as asked",),
                ),
                Lines("The same: delivered minus requested", "", "e requested", "-", errors),
            ]
    text = (
        f"A ball of {settings['mass']:g} kg hits a plane at {settings['speed']:g} m/s, without gravity. Requested is "
        "the restitution e written in the model; delivered is its speed away over its speed in. "
        f"{_verdict(asked, delivered)} Simulation and closed formula differ by {worst:.0e} at most. Neither mass, "
        "speed, stiffness nor exponent changes what the laws with restitution deliver."
    )  # fmt: skip
    finding = Finding(
        "Restitution: delivered against requested",
        text,
        (*columns, f"within {CLOSE} of e"),
        tuple(rows),
        tuple(charts),
        tuple(range(1, 7)),
    )
    return Outcome(finding, numbers)


def _range_words(asked: Any, delivered: Any) -> str:
    """Where a law delivers what is asked: from which requested e on."""
    misses = np.flatnonzero(np.abs(delivered - asked) > CLOSE)
    if len(misses) == 0:
        return "everywhere"
    first_good = misses[-1] + 1
    top = f"from {asked[first_good]:.2g} on" if first_good < len(asked) else ""
    if first_good == len(asked) - 1:
        top = f"at {asked[-1]:g}"
    bottom = f"up to {asked[misses[0] - 1]:.2g}" if misses[0] > 0 else ""
    return " and ".join(word for word in (bottom, top) if word) or "nowhere"


def _verdict(asked: Any, delivered: Mapping[str, Any]) -> str:
    """Who delivers what is asked, in sentences."""
    error = {law: float(np.max(np.abs(values - asked))) for law, values in delivered.items()}
    damped = [law for law in error if NORMAL_LAWS[law].takes()]
    kinds = {
        "Exactly what is asked: {}.": [law for law in damped if error[law] <= 1e-6],
        "Within 0.1 at any e: {}.": [law for law in damped if 1e-6 < error[law] <= 0.1],
        "Off by more than 0.1 somewhere (most): {}.": [
            f"{law} ({error[law]:.2f})" for law in damped if error[law] > 0.1
        ],
        "No damping, so all is given back: {}.": [law for law in error if law not in damped],
        "{}, which takes a damping, got the textbook's for e.": [law for law in damped if takes_damping(law)],
    }
    return " ".join(words.format(", ".join(laws)) for words, laws in kinds.items() if laws)


def _loops(settings: Mapping[str, Any], measured: dict[Any, Any]) -> Outcome:
    e, mass, speed = settings["restitution"], settings["mass"], settings["speed"]
    energy = 0.5 * mass * speed**2
    numbers, rows = [], []
    for law in settings["laws"]:
        found, normal = measured[law, e], normal_law(law, e, settings)
        is_elastic = law in ("hooke", "hertz")
        formula = elastic_time(mass, speed, normal.K, normal.n) if is_elastic else math.nan
        depth, lost = float(np.max(found["depth"])), -found["work"] / energy
        numbers.append(
            {
                "law": law, "requested": e, "stiffness": normal.K, "exponent": normal.n, "time": found["time"],
                "time_formula": formula, "peak_force": found["peak"], "depth": depth, "energy_lost": lost,
            }
        )  # fmt: skip
        check = f"{1e3 * formula:.6g} ({found['time'] / formula - 1:.0e})" if is_elastic else ""
        rows.append(
            (
                law,
                f"{1e3 * found['time']:.6g}",
                check,
                f"{found['peak']:.5g}",
                f"{1e3 * depth:.4g}",
                f"{100 * abs(lost):.1f}",
            )
        )
    charts = tuple(
        Lines(
            f"Laws that deliver {title}",
            "N",
            "depth",
            "m",
            tuple((law, measured[law, e]["depth"], measured[law, e]["force"]) for law in laws),
        )
        for title, laws in groups(settings, measured).items()
        if laws
    )
    text = (
        f"One bounce at e = {e:g} requested. A loop is run through clockwise: in on the upper branch, out on the lower "
        "one; the area inside is the energy lost. Damping that grows with the force makes loops that begin and end "
        "at 0. kelvin-voigt begins with a jump, for its damping acts before there is any depth. Damping makes contacts "
        "longer; the time is until the surface is left. By formula the time without damping is, for the exponent 3/2, "
        "3.21807 (m^2/(K^2 v))^(1/5)."
    )
    columns = (
        "law", "time [ms]", "by formula (rel. difference)", "peak force [N]", "depth [mm]", "energy lost [%]"
    )  # fmt: skip
    return Outcome(
        Finding("Force over depth, time and peak", text, columns, tuple(rows), charts, (1, 2, 3, 4, 5)), numbers
    )


BOUNCE = Experiment("bounce", plan, evaluate)
