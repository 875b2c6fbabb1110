"""Contact of points with planes: normal laws, friction laws, and which parameters each of them takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from pliant.errors import ModelError
from pliant.model.bodies import Place
from pliant.model.messages import listed, quoted, refuse
from pliant.model.quantities import Name, NonNegative, Number, Positive, Vector, described, without_direction

# --- normal laws ----------------------------------------------------------------------------------------------


def exact_damping(e: float) -> float:
    """X that delivers the restitution e: the root of ln((1 + X) / (1 - X e)) = X (1 + e) with X e < 1."""
    if e == 1.0:
        return 0.0
    low, high = 0.0, 1.0 / e
    while True:
        X = 0.5 * (low + high)
        if X in (low, high):
            return X
        if _restitution_gap(X, e) < 0.0:
            low = X
        else:
            high = X


def _restitution_gap(X: float, e: float) -> float:
    """(ln((1 + X) / (1 - X e)) - X (1 + e)) / X^2; as a series where the difference would cancel."""
    if X < 0.2:
        return sum((e**k - (-1.0) ** k) / k * X ** (k - 2) for k in range(2, 40))
    if X * e >= 1.0:
        return math.inf
    return (math.log1p(X) - math.log1p(-X * e) - X * (1.0 + e)) / X**2


@dataclass(frozen=True)
class NormalRow:
    """One normal law: its usual exponent, and X(e) of F = K d^n (1 + X d'/v_in) where it is of that form."""

    exponent: float = 1.5
    damping: Callable[[float], float] | None = None
    takes: tuple[str, ...] = ("restitution",)  # exactly one of these is needed


NORMAL_LAWS: dict[str, NormalRow] = {
    "hooke": NormalRow(1.0, takes=()),
    "kelvin-voigt": NormalRow(1.0, takes=("damping",)),
    "hertz": NormalRow(takes=()),
    "hunt-crossley": NormalRow(damping=lambda e: 1.5 * (1.0 - e), takes=("restitution", "damping")),
    "herbert-mcwhannell": NormalRow(damping=lambda e: 6.0 * (1.0 - e) / ((2.0 * e - 1.0) ** 2 + 3.0)),
    "lee-wang": NormalRow(damping=lambda e: 0.75 * (1.0 - e)),
    "lankarani-nikravesh": NormalRow(damping=lambda e: 0.75 * (1.0 - e**2)),
    "gonthier": NormalRow(damping=lambda e: (1.0 - e**2) / e),
    "zhiying-qishao": NormalRow(damping=lambda e: 0.75 * (1.0 - e**2) * math.exp(2.0 * (1.0 - e))),
    "flores": NormalRow(damping=lambda e: 1.6 * (1.0 - e) / e),
    "gharib-hurmuzlu": NormalRow(damping=lambda e: 1.0 / e),
    "hu-guo": NormalRow(damping=lambda e: 1.5 * (1.0 - e) / e),
    "exact": NormalRow(damping=exact_damping),
}
NormalWord = Literal[
    "hooke",
    "kelvin-voigt",
    "hertz",
    "hunt-crossley",
    "herbert-mcwhannell",
    "lee-wang",
    "lankarani-nikravesh",
    "gonthier",
    "zhiying-qishao",
    "flores",
    "gharib-hurmuzlu",
    "hu-guo",
    "exact",
]


@described
class Hertz:
    """Stiffness of a ball on a plane, or on another ball, from radii and materials: K = 4/3 E* sqrt(R).

    1/E* = (1 - nu^2)/E of the ball + the same of the other (left out: rigid), 1/R = 1/radius + 1/other_radius."""

    radius: Positive  # of the ball [m]
    young: Positive  # Young's modulus of the ball [Pa]
    poisson: Annotated[Number, Field(ge=0, le=0.5)] = 0.3  # Poisson's ratio of the ball
    other_radius: Positive | None = None  # of the other body [m]; left out: flat
    other_young: Positive | None = None  # of the other body [Pa]; left out: rigid
    other_poisson: Annotated[Number, Field(ge=0, le=0.5)] = 0.3  # of the other body

    @property
    def stiffness(self) -> float:
        compliance = (1.0 - self.poisson**2) / self.young
        if self.other_young is not None:
            compliance += (1.0 - self.other_poisson**2) / self.other_young
        curvature = 1.0 / self.radius + (1.0 / self.other_radius if self.other_radius else 0.0)
        return 4.0 / 3.0 / compliance / math.sqrt(curvature)


Stiffness = Annotated[
    Annotated[Positive, Tag("number")] | Annotated[Hertz, Tag("hertz")],
    Discriminator(lambda value: "hertz" if isinstance(value, (dict, Hertz)) else "number"),
]


@described
class NormalLaw:
    """Force of a contact along the normal, d = depth of penetration: K d^n, and damping by restitution or as given.

    The laws with restitution are F = K d^n (1 + X d'/v_in), v_in the speed at which this contact began; they differ in
    X(restitution). kelvin-voigt: K d + damping d'. hunt-crossley with damping instead: K d^n (1 + damping d').
    No law ever pulls."""

    law: NormalWord  # which law
    stiffness: Stiffness  # K [N/m^n], or a table of radii and materials
    exponent: Positive | None = None  # n; default 1.5, and 1 for hooke and kelvin-voigt
    restitution: Annotated[Positive, Field(le=1)] | None = None  # asked for; the law decides what is delivered
    damping: NonNegative | None = None  # kelvin-voigt [N s/m], hunt-crossley [s/m]

    def __post_init__(self) -> None:
        refuse(_normal_problems(self))

    @property
    def row(self) -> NormalRow:
        return NORMAL_LAWS[self.law]

    @property
    def K(self) -> float:
        return self.stiffness.stiffness if isinstance(self.stiffness, Hertz) else self.stiffness

    @property
    def n(self) -> float:
        return self.row.exponent if self.exponent is None else self.exponent

    @property
    def X(self) -> float:
        """Damping of the laws with restitution, 0 without."""
        if self.row.damping is None or self.restitution is None:
            return 0.0
        return self.row.damping(self.restitution)


def _normal_problems(normal: NormalLaw) -> Iterator[str]:
    takes = normal.row.takes
    given = [key for key in ("restitution", "damping") if getattr(normal, key) is not None]
    for key in given:
        if key not in takes:
            other = f"give {' or '.join(takes)} instead" if takes else "leave it out"
            yield f"{key} has no effect in the law {normal.law}; {other}"
    if takes and not set(given) & set(takes):
        yield f"the law {normal.law} needs {' or '.join(takes)}; give it"
    if len(set(given) & set(takes)) > 1:
        yield f"restitution and damping are both given; the law {normal.law} takes one of them: leave one out"
    if normal.row.exponent == 1.0 and normal.n != 1.0:
        yield f"exponent {normal.n:g} found; the law {normal.law} has exponent 1: leave it out, or choose hertz"
    if isinstance(normal.stiffness, Hertz) and normal.n != 1.5:
        yield f"exponent {normal.n:g} found; a stiffness from radii and materials belongs to exponent 1.5: leave it out"
    if normal.n < 1.0:
        yield f"exponent {normal.n:g} found; give 1 or more (the force must grow from 0 with the depth)"


# --- friction laws --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FrictionRow:
    """One friction law: parameters it needs, and those it may have with their defaults."""

    needs: tuple[str, ...]
    may: tuple[tuple[str, float], ...] = ()

    @property
    def has_states(self) -> bool:
        """Whether it has internal states (bristles), integrated with the motion."""
        return "sigma0" in self.needs


STICK_SPEED = ("stick_speed", 1e-6)
LEAST_NORMAL = ("least_normal", 1.0)
FRICTION_LAWS: dict[str, FrictionRow] = {
    "coulomb": FrictionRow(("mu_k",), (STICK_SPEED,)),
    "stiction": FrictionRow(("mu_k", "mu_s"), (STICK_SPEED,)),
    "viscous": FrictionRow(("mu_k", "c_v"), (STICK_SPEED,)),
    "stribeck": FrictionRow(("mu_k", "mu_s", "v_s"), (("p", 2.0), ("c_v", 0.0), STICK_SPEED)),
    "karnopp": FrictionRow(("mu_k", "mu_s"), (("stick_speed", 1e-3),)),
    "bengisu-akay": FrictionRow(("mu_k", "mu_s", "v0", "xi")),
    "ambrosio": FrictionRow(("mu_k", "v0", "v1")),
    "atan": FrictionRow(("mu_k", "sharpness")),
    "tanh": FrictionRow(("mu_k", "sharpness")),
    "step-stribeck": FrictionRow(("mu_k", "mu_s", "v0", "v1")),
    "dahl": FrictionRow(("mu_k", "sigma0"), (("p", 1.0), LEAST_NORMAL)),
    "lugre": FrictionRow(("mu_k", "mu_s", "v_s", "sigma0", "sigma1"), (("sigma2", 0.0), LEAST_NORMAL)),
}
FrictionWord = Literal[
    "coulomb",
    "stiction",
    "viscous",
    "stribeck",
    "karnopp",
    "bengisu-akay",
    "ambrosio",
    "atan",
    "tanh",
    "step-stribeck",
    "dahl",
    "lugre",
]


@described
class Friction:
    """Force against sliding, by a law: N normal force, v speed of sliding.

    coulomb mu_k N; stiction: mu_s N holds, then mu_k N; viscous mu_k N + c_v v;
    stribeck [mu_k + (mu_s - mu_k) exp(-(v/v_s)^p)] N + c_v v;
    karnopp: sticks below stick_speed until mu_s N, else mu_k N;
    bengisu-akay: mu_s N [1 - (v - v0)^2/v0^2] below v0, [mu_k + (mu_s - mu_k) exp(-xi (v - v0))] N above;
    ambrosio: 0 below v0, mu_k N above v1, linear between; atan mu_k N (2/pi) atan(sharpness v);
    tanh mu_k N tanh(sharpness v); step-stribeck: cubic up to mu_s at v0, cubic down to mu_k at v1, mu_k above;
    dahl, lugre: bristles of stiffness sigma0 with their own state.
    The first five stick: below stick_speed a force up to mu_s N (mu_k N) holds the point."""

    law: FrictionWord  # which law
    mu_k: NonNegative  # kinetic coefficient
    mu_s: NonNegative | None = None  # static coefficient, at least mu_k
    v0: Positive | None = None  # lower speed of the law [m/s]
    v1: Positive | None = None  # upper speed of the law [m/s]
    c_v: NonNegative | None = None  # viscous coefficient [N s/m]
    v_s: Positive | None = None  # Stribeck speed [m/s]
    p: Positive | None = None  # exponent; default 2 (stribeck), 1 (dahl)
    xi: Positive | None = None  # decay with speed [s/m]
    sharpness: Positive | None = None  # of atan and tanh [s/m]
    stick_speed: Positive | None = None  # below it a point sticks [m/s]; default 1e-6, karnopp 1e-3
    sigma0: Positive | None = None  # stiffness of the bristles [N/m]
    sigma1: NonNegative | None = None  # damping of the bristles [N s/m]
    sigma2: NonNegative | None = None  # viscous coefficient of lugre [N s/m]; default 0
    least_normal: Positive | None = None  # N of the bristle laws is not taken below this [N]; default 1
    load: Positive | None = None  # N where no contact gives it: friction in joints [N, N m]

    def __post_init__(self) -> None:
        refuse(_friction_problems(self))

    @property
    def row(self) -> FrictionRow:
        return FRICTION_LAWS[self.law]

    def value(self, key: str) -> float:
        """A parameter as given, or its default in this law; 0 where the law has none."""
        if not isinstance(key, str) or key not in PARAMETERS:
            raise ModelError(f"key: {quoted(key)} found; give one of {', '.join(PARAMETERS)}")
        given = getattr(self, key)
        return float(dict(self.row.may).get(key, 0.0) if given is None else given)


PARAMETERS = tuple(
    key
    for key in Friction.__dataclass_fields__
    if key not in ("law", "load")  # type: ignore[attr-defined]
)


def _friction_problems(friction: Friction) -> Iterator[str]:
    row = friction.row
    allowed = [*row.needs, *(key for key, _ in row.may)]
    for key in PARAMETERS:
        given = getattr(friction, key)
        if given is not None and key not in allowed:
            yield f"{key} has no effect in the law {friction.law}, which takes {listed(allowed)}; leave it out"
        if given is None and key in row.needs:
            yield f"the law {friction.law} needs {key}; give it ({friction.law} takes {listed(allowed)})"
    if friction.mu_s is not None and friction.mu_s < friction.mu_k:
        yield f"mu_s {friction.mu_s:g} is below mu_k {friction.mu_k:g}; give mu_s >= mu_k"
    if friction.v0 is not None and friction.v1 is not None and friction.v1 <= friction.v0:
        yield f"v1 {friction.v1:g} m/s is not above v0 {friction.v0:g} m/s; give v1 > v0"
    if row.has_states and friction.mu_k == 0.0:
        yield f"mu_k 0 found; the law {friction.law} divides by it: give a positive one, or leave friction out"


# --- contacts -------------------------------------------------------------------------------------------------


@described
class Plane:
    """A plane through a place, carried by its body or fixed in the world; the free side is where the normal points."""

    place: Place = "world"  # a body, a frame, "world", or a frame given in place: the plane goes through its origin
    normal: Vector = (0.0, 0.0, 1.0)  # in the axes of the place, any length but 0
    offset: Number = 0.0  # shifts the plane along its normal [m]

    def __post_init__(self) -> None:
        refuse(filter(None, [without_direction("normal", self.normal)]))


@described
class Contact:
    """Points (or balls about them) that touch a plane. Without points: ends of all rods, tubes, beams."""

    name: Name  # under which it is logged
    normal: NormalLaw  # force along the normal
    plane: Plane = Plane()  # what is touched; default: the ground z = 0
    points: Annotated[tuple[Place, ...], Field(min_length=1)] | None = None  # left out: ends of the links
    friction: Friction | None = None  # force along the plane
    radius: NonNegative = 0.0  # of a ball about each point [m]
    rests: bool = False  # whether points may lie below the plane at the start: they press on it, as at rest

    def __post_init__(self) -> None:
        if self.friction is not None and self.friction.load is not None:
            raise ValueError("friction.load has no effect in a contact, which has a normal force; leave it out")
