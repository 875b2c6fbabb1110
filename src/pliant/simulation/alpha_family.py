"""Parameters of the generalised-alpha family from what the user says: rho_inf, alpha, beta, gamma."""

from __future__ import annotations

from typing import Any, NamedTuple

from pliant.errors import ModelError
from pliant.methods import INTEGRATORS
from pliant.model.messages import quoted

# option: (default, least, largest, meaning)
ALPHA_OPTIONS: dict[str, tuple[float, float, float, str]] = {
    "rho_inf": (0.8, 0.0, 1.0, "what is left per step of infinitely fast motion; 1 damps nothing, 0 everything"),
    "alpha": (-0.1, -1.0 / 3.0, 0.0, "numerical damping of hht; 0 damps nothing"),
    "beta": (0.25, 0.0, 1.0, "weight of the new acceleration in newmark's coordinates"),
    "gamma": (0.5, 0.5, 1.0, "weight of the new acceleration in newmark's velocities; above 1/2 it damps"),
}


class AlphaParameters(NamedTuple):
    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float


def alpha_parameters(options: dict[str, Any]) -> AlphaParameters | None:
    """Of the integrator in options, None if it is not of this family."""
    name = options["integrator"]
    if name == "generalised_alpha":
        rho = options["rho_inf"]
        alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    elif name == "hht":
        alpha_m, alpha_f = 0.0, -options["alpha"]
    elif name == "newmark":
        return AlphaParameters(0.0, 0.0, options["beta"], options["gamma"])
    else:
        return None
    # second order, and the most damping of fast motion (Chung and Hulbert, 17 and 20)
    return AlphaParameters(alpha_m, alpha_f, 0.25 * (1.0 - alpha_m + alpha_f) ** 2, 0.5 - alpha_m + alpha_f)


def check_alpha_options(options: dict[str, Any], own: tuple[str, ...]) -> None:
    """Fill in the defaults of the integrator's own parameters; refuse those of another, and numbers out of range."""
    name = options["integrator"]
    for key, (default, low, high, meaning) in ALPHA_OPTIONS.items():
        value = options[key]
        if value is None:
            options[key] = default if key in own else None
        elif key not in own:
            owner = next(row.name for row in INTEGRATORS if key in row.options)
            raise ModelError(
                f"{key}: a parameter of {owner}, not of {name!r}; leave it out, or take integrator={owner}"
            )
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise ModelError(f"{key}: {quoted(value)} found; give a number from {low:.4g} to {high:g} ({meaning})")
