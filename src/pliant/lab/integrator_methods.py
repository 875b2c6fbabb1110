"""The integrators of pliant lab integrators: each with its parameters, a sentence of advice, and how it is run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from pliant.errors import AccuracyWarning
from pliant.methods.integrators import (
    ARK4,
    ARK5,
    BS5,
    HHT,
    Adams,
    Dop853,
    Dopri5,
    FoxEuler,
    GeneralisedAlpha,
    Houbolt,
    Integrator,
    Newmark,
    Proposed,
    Radau,
    Rk4,
    Rkf45,
    Wilson,
)
from pliant.model.model import Model
from pliant.result import Result
from pliant.simulation.simulate import simulate

TIGHT = {"rtol": 1e-13, "atol": 1e-14}  # of Newton's method: what is measured is the method

ADVICE = {
    "dop853": "The default for smooth motion: the most digits per evaluation of all explicit methods here.",
    "bs5": "For few digits (3 to 6) and robots that hit things: shorter steps than dop853's fit in more often.",
    "dopri5": "As bs5 with a larger error; for comparison with codes that use it.",
    "rkf45": "Much like dopri5 with a larger error; for comparison with codes that use it.",
    "rk4": "For fixed steps in real time while omega h stays below 2.8; it damps what it does not resolve.",
    "adams": "Fewest evaluations on long smooth motion; every event and every sample makes it begin anew.",
    "adams 4": "With fixed steps rather this than the highest order, which is stable below omega h = 0.04 only.",
    "radau": "For stiff models: stable and accurate at any step; it pays where dop853 is held back by stability.",
    "ark4": "For stiff robots and 2 to 5 digits: as stable as radau, a step costs little more than one of dopri5.",
    "ark5": "As ark4 for 4 to 8 digits; where stiff motion rings and must be followed, radau or dop853.",
    "generalised_alpha": "First choice of fixed steps: stable, second order, rho_inf says how much fast motion stays.",
    "hht": "As generalised_alpha with less choice; it damps resolved motion a little more.",
    "newmark": "The trapezoidal rule: stable, no damping at all, so fast motion once excited rings on.",
    "newmark 1/6": "Linear acceleration: half the period error of newmark, but unstable from omega h = 3.46 on.",
    "newmark 1/8": "A quarter of newmark's period error, but 1/12 has none; unstable from omega h = 2.83 on.",
    "newmark 1/12": "Fourth order on undamped linear vibration, second elsewhere; unstable from omega h = 2.45 on.",
    "newmark 0": "Central differences: unstable from omega h = 2 on; here still implicit, so it has no advantage.",
    "fox_euler": "First order and strong damping: only to find a state of rest.",
    "wilson": "Stable with theta above 1.366, but it overshoots at first and damps more than generalised_alpha.",
    "houbolt": "Stable, damps even resolved motion; generalised_alpha with rho_inf 0 does the same and needs no past.",
    "proposed": "Third order, no damping of its own, where omega h stays below 2.45 for all frequencies.",
    "proposed 1/2": "Undamped motion grows at every step: do not use it; proposed with g2 = 1 costs the same.",
    "proposed printed": "Wrong at every step: for the reproduction of a thesis only.",
}
PARAMETERS = ("max_order", "rho_inf", "alpha", "beta", "gamma", "theta", "g1", "g2")


def all_methods(settings: Mapping[str, Any]) -> dict[str, Integrator]:
    """By label, with the parameters that are set."""
    return {
        "dop853": Dop853(),
        "bs5": BS5(),
        "dopri5": Dopri5(),
        "rkf45": Rkf45(),
        "rk4": Rk4(),
        "adams": Adams(settings["max_order"]),
        "adams 4": Adams(4),
        "radau": Radau(),
        "ark4": ARK4(),
        "ark5": ARK5(),
        "generalised_alpha": GeneralisedAlpha(settings["rho_inf"]),
        "hht": HHT(settings["alpha"]),
        "newmark": Newmark(settings["beta"], settings["gamma"]),
        "newmark 1/6": Newmark(1.0 / 6.0),
        "newmark 1/8": Newmark(1.0 / 8.0),
        "newmark 1/12": Newmark(1.0 / 12.0),
        "newmark 0": Newmark(0.0),
        "fox_euler": FoxEuler(),
        "wilson": Wilson(settings["theta"]),
        "houbolt": Houbolt(),
        "proposed": Proposed(settings["g1"], settings["g2"]),
        "proposed 1/2": Proposed(1.0 / 3.0, 0.5),
        "proposed printed": Proposed(1.0 / 3.0, 0.5, "printed"),
    }


def chosen_methods(settings: Mapping[str, Any]) -> dict[str, Integrator]:
    every = all_methods(settings)
    return {label: every[label] for label in settings["methods"]}


def is_fixed(method: Integrator) -> bool:
    """Whether it takes fixed steps only."""
    return "adaptive" not in method.supports


def made(model: Model, duration: float, method: Integrator, **options: Any) -> Result:
    """A run whose warnings are part of what is measured."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        return simulate(model, duration, integrator=method, **options)
