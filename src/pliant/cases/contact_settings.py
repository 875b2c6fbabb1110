"""Settings that every case with a contact shares: the laws and their parameters."""

from __future__ import annotations

from typing import Any

from pliant.cases.case import Setting
from pliant.model.friction_laws import FRICTION_LAWS, Friction
from pliant.model.normal_laws import NORMAL_LAWS, NormalLaw
from pliant.model.parameters import Parameter

NO_FRICTION = "none"
CONTACT_SETTINGS = {
    "normal_law": Setting("hu-guo", "force along the normal", choices=tuple(NORMAL_LAWS)),
    "stiffness": Setting(1.4e8, "of the contact, for the exponent", "N/m^n"),
    "exponent": Setting(1.5, "of the penetration"),
    "restitution": Setting(0.8, "asked for, in (0, 1]"),
    "contact_damping": Setting(200.0, "of kelvin-voigt", "N s/m"),
    "friction_law": Setting("ambrosio", "force along the ground", choices=(NO_FRICTION, *FRICTION_LAWS)),
    "mu_k": Setting(0.1, "kinetic coefficient of friction"),
    "mu_s": Setting(0.15, "static coefficient of friction, of the laws that have one"),
    "v0": Setting(1e-4, "lower speed of the friction law", "m/s"),
    "v1": Setting(1e-3, "upper speed of the friction law", "m/s"),
    "v_s": Setting(1e-2, "Stribeck speed", "m/s"),
    "c_v": Setting(1.0, "viscous friction of viscous and stribeck", "N s/m"),
    "xi": Setting(10.0, "decay of bengisu-akay", "s/m"),
    "sharpness": Setting(1e3, "of atan and tanh", "s/m"),
    "sigma0": Setting(1e5, "stiffness of bristles", "N/m"),
    "sigma1": Setting(100.0, "damping of bristles", "N s/m"),
}


def normal_law(settings: dict[str, Any]) -> NormalLaw:
    """The law with those of the settings that it takes."""
    law = NORMAL_LAWS[settings["normal_law"]]
    return law(**{name: settings[key] for key, name in _used_keys(law).items()})


def _used_keys(law: type[NormalLaw]) -> dict[str, str]:
    """Keys of a case that a normal law takes, and its own names for them."""
    keys = {"stiffness": "stiffness"}
    if "restitution" in law.takes():
        keys["restitution"] = "restitution"
    elif "damping" in law.takes():
        keys["contact_damping"] = "damping"
    return keys if law.is_linear else {**keys, "exponent": "exponent"}


def unused_keys(settings: dict[str, Any]) -> dict[str, str]:
    """Keys that do nothing in the laws chosen, and why."""
    used = {*_used_keys(NORMAL_LAWS[settings["normal_law"]])}
    used |= {each.name for each in _friction_parameters(settings["friction_law"])}
    unused = {key: f"normal_law = {settings['normal_law']}" for key in ("restitution", "contact_damping", "exponent")}
    first = list(CONTACT_SETTINGS).index("friction_law") + 1
    unused |= {key: f"friction_law = {settings['friction_law']}" for key in list(CONTACT_SETTINGS)[first:]}
    return {key: why for key, why in unused.items() if key not in used}


def friction_law(settings: dict[str, Any]) -> Friction | None:
    """The law with those of the settings that it takes."""
    law = settings["friction_law"]
    if law == NO_FRICTION:
        return None
    names = [each.name for each in _friction_parameters(law)]
    return FRICTION_LAWS[law](**{name: settings[name] for name in names if name in settings})


def _friction_parameters(law: str) -> tuple[Parameter, ...]:
    return () if law == NO_FRICTION else FRICTION_LAWS[law].parameters()
