"""Laws of contact and friction, a row each; their parameters are in model/contacts.py."""

from __future__ import annotations

from typing import NamedTuple


class Law(NamedTuple):
    """A law of contact or friction: where it lives, what it can do, its cost, who invented it."""

    name: str
    summary: str
    module: str
    function: str
    supports: frozenset[str]
    cost: str
    reference: str  # key in docs/bibliography.md


def _normal(name: str, summary: str, reference: str, supports: str = "restitution") -> Law:
    words = frozenset(supports.split(", ")) if supports else frozenset[str]()
    return Law(name, summary, "pliant.kernels.contact.normal", "normal_force", words, "one power", reference)


NORMAL_LAWS = (
    _normal("hooke", "K d", "johnson1985", ""),
    _normal("kelvin-voigt", "K d + C d'", "goldsmith1960", "damping"),
    _normal("hertz", "K d^n", "johnson1985", ""),
    _normal("hunt-crossley", "X = 3/2 (1 - e)", "hunt1975", "restitution, damping"),
    _normal("herbert-mcwhannell", "X = 6 (1 - e)/((2 e - 1)^2 + 3)", "herbert1977"),
    _normal("lee-wang", "X = 3/4 (1 - e)", "lee1983"),
    _normal("lankarani-nikravesh", "X = 3/4 (1 - e^2)", "lankarani1990"),
    _normal("gonthier", "X = (1 - e^2)/e", "gonthier2004"),
    _normal("zhiying-qishao", "X = 3/4 (1 - e^2) exp(2 (1 - e))", "zhang2006"),
    _normal("flores", "X = 8/5 (1 - e)/e", "flores2011"),
    _normal("gharib-hurmuzlu", "X = 1/e, for small e", "gharib2012"),
    _normal("hu-guo", "X = 3/2 (1 - e)/e", "hu2015"),
    _normal("exact", "ln((1 + X)/(1 - X e)) = X (1 + e): delivers e", "hunt1975"),
)


def _friction(name: str, summary: str, reference: str, supports: str) -> Law:
    words = frozenset({"contacts", "joints", supports})
    return Law(name, summary, "pliant.kernels.contact.friction", "slip_force", words, "explicit", reference)


FRICTION_LAWS = (
    _friction("coulomb", "mu_k N", "marques2016", "sticking"),
    _friction("stiction", "mu_s N until it breaks away, then mu_k N", "marques2016", "sticking"),
    _friction("viscous", "mu_k N + c_v v", "marques2016", "sticking"),
    _friction("stribeck", "mu falls from mu_s to mu_k with speed, + c_v v", "armstrong1994", "sticking"),
    _friction("karnopp", "sticks below a speed, mu_s N until it breaks away", "karnopp1985", "sticking"),
    _friction("bengisu-akay", "parabola up to mu_s at v0, then falling to mu_k", "bengisu1994", "smoothed"),
    _friction("ambrosio", "0 below v0, mu_k N above v1, linear between", "ambrosio2003", "smoothed"),
    _friction("atan", "mu_k N (2/pi) atan(a v)", "marques2016", "smoothed"),
    _friction("tanh", "mu_k N tanh(a v)", "marques2016", "smoothed"),
    _friction("step-stribeck", "cubic steps to mu_s at v0 and to mu_k at v1", "marques2016", "smoothed"),
    _friction("dahl", "bristles: stiffness sigma0, mu_k N in the end", "dahl1976", "bristles"),
    _friction("lugre", "bristles with damping and Stribeck effect", "canudas1995", "bristles"),
)
