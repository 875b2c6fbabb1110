"""Settings that every case with a contact shares: the laws and their parameters."""

from __future__ import annotations

from typing import Any

from pliant.cases.case import Setting
from pliant.model.contacts import FRICTION_LAWS, NORMAL_LAWS, Friction, NormalLaw

CONTACT_SETTINGS = {
    "normal_law": Setting("hu-guo", "force along the normal", choices=tuple(NORMAL_LAWS)),
    "stiffness": Setting(1.4e8, "of the contact, for the exponent", "N/m^n"),
    "exponent": Setting(1.5, "of the penetration"),
    "restitution": Setting(0.8, "asked for, in (0, 1]"),
    "contact_damping": Setting(200.0, "of kelvin-voigt", "N s/m"),
    "friction_law": Setting("ambrosio", "force along the ground", choices=("none", *FRICTION_LAWS)),
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
    row = NORMAL_LAWS[settings["normal_law"]]
    given: dict[str, Any] = {"stiffness": settings["stiffness"]}
    if "restitution" in row.takes:
        given["restitution"] = settings["restitution"]
    elif "damping" in row.takes:
        given["damping"] = settings["contact_damping"]
    if row.exponent != 1.0:
        given["exponent"] = settings["exponent"]
    return NormalLaw(settings["normal_law"], **given)


def unused_keys(settings: dict[str, Any]) -> dict[str, str]:
    """Keys that do nothing in the laws chosen, and why."""
    normal, friction = normal_law(settings), friction_law(settings)
    used = {"restitution" if normal.restitution is not None else "", "contact_damping" if normal.damping else ""}
    used |= {"exponent"} if normal.exponent is not None else set()
    used |= {key for key in CONTACT_SETTINGS if friction is not None and getattr(friction, key, None) is not None}
    unused = {key: f"normal_law = {normal.law}" for key in ("restitution", "contact_damping", "exponent")}
    first = list(CONTACT_SETTINGS).index("friction_law") + 1
    unused |= {key: f"friction_law = {settings['friction_law']}" for key in list(CONTACT_SETTINGS)[first:]}
    return {key: why for key, why in unused.items() if key not in used}


def friction_law(settings: dict[str, Any]) -> Friction | None:
    """The law with those of the settings that it takes."""
    law = settings["friction_law"]
    if law == "none":
        return None
    row = FRICTION_LAWS[law]
    names = [*row.needs, *(name for name, _ in row.may if name in settings)]
    return Friction(law, **{name: settings[name] for name in names})
