"""Friction laws: the force against sliding. N normal force, v speed of sliding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pliant.errors import ModelError
from pliant.model.laws import Law, Quantity, one_of
from pliant.model.messages import quoted
from pliant.model.quantities import NonNegative, Positive, described

Kinetic = Annotated[NonNegative, Quantity("kinetic coefficient")]
Static = Annotated[NonNegative, Quantity("static coefficient, at least mu_k")]
LowerSpeed = Annotated[Positive, Quantity("lower speed of the law", "m/s")]
UpperSpeed = Annotated[Positive, Quantity("upper speed of the law, above v0", "m/s")]
Viscosity = Annotated[NonNegative, Quantity("viscous coefficient", "N s/m")]
StribeckSpeed = Annotated[Positive, Quantity("Stribeck speed", "m/s")]
Exponent = Annotated[Positive, Quantity("exponent")]
Decay = Annotated[Positive, Quantity("decay with speed", "s/m")]
Sharpness = Annotated[Positive, Quantity("of the step through zero speed", "s/m")]
StickSpeed = Annotated[Positive, Quantity("below it a point sticks", "m/s")]
BristleStiffness = Annotated[Positive, Quantity("stiffness of the bristles", "N/m")]
BristleDamping = Annotated[NonNegative, Quantity("damping of the bristles", "N s/m")]
LeastNormal = Annotated[Positive, Quantity("N is not taken below this in the rate of the bristles", "N")]
JointLoad = Annotated[Positive, Quantity("N where no contact gives it: friction in joints", "N, N m")]


class Friction(Law):
    """Force against sliding, by a law: Friction("stribeck", mu_k=0.2, mu_s=0.4, v_s=0.05), or Stribeck(0.2, 0.4, 0.05).

    A law that sticks holds a point below stick_speed with a force up to mu_s N (mu_k N where it has no mu_s). load: N
    of friction in a joint, needed there and refused in contacts."""

    family: ClassVar[str] = "friction law"
    cost: ClassVar[str] = "explicit"
    kinks: ClassVar[tuple[str, ...]] = ()  # parameters that are speeds at which the law has a kink

    mu_k: float
    load: float | None
    if TYPE_CHECKING:
        mu_s: float | None  # None: the law has none

    def __init__(
        self,
        law: str,
        mu_k: float,
        mu_s: float | None = None,
        v0: float | None = None,
        v1: float | None = None,
        c_v: float | None = None,
        v_s: float | None = None,
        p: float | None = None,
        xi: float | None = None,
        sharpness: float | None = None,
        stick_speed: float | None = None,
        sigma0: float | None = None,
        sigma1: float | None = None,
        sigma2: float | None = None,
        least_normal: float | None = None,
        load: float | None = None,
    ) -> None:
        raise TypeError(self, "is made by its law")  # the signature of the family; laws have their own

    @classmethod
    def sticks(cls) -> bool:
        """Whether it holds a point at rest."""
        return "sticking" in cls.supports

    @classmethod
    def has_states(cls) -> bool:
        """Whether it has internal states (bristles), integrated with the motion."""
        return "bristles" in cls.supports

    def value(self, key: str) -> float:
        """A parameter; 0 where the law has none."""
        allowed = self.keys[1:-1]
        if not isinstance(key, str) or key not in allowed:
            raise ModelError(f"key: {quoted(key)} found; give one of {', '.join(allowed)}")
        return float(getattr(self, key) or 0.0)

    def problems(self) -> Iterator[str]:
        v0, v1 = self.value("v0"), self.value("v1")
        if self.mu_s is not None and self.mu_s < self.mu_k:
            yield f"mu_s {self.mu_s:g} is below mu_k {self.mu_k:g}; give mu_s >= mu_k"
        if v1 and v1 <= v0:
            yield f"v1 {v1:g} m/s is not above v0 {v0:g} m/s; give v1 > v0"
        if self.has_states() and self.mu_k == 0.0:
            yield f"mu_k 0 found; the law {self.law} divides by it: give a positive one, or leave friction out"


@described
class _Friction(Friction):
    """What every law takes."""

    mu_k: Kinetic
    load: JointLoad | None = field(default=None, kw_only=True)


_STICKING = frozenset({"contacts", "joints", "sticking"})
_SMOOTHED = frozenset({"contacts", "joints", "smoothed"})
_BRISTLES = frozenset({"contacts", "joints", "bristles"})


@described
class Coulomb(_Friction):
    """mu_k N."""

    supports: ClassVar[frozenset[str]] = _STICKING
    reference: ClassVar[str] = "marques2016"

    stick_speed: StickSpeed = 1e-6
    law: Literal["coulomb"] = "coulomb"


@described
class Stiction(_Friction):
    """mu_k N; sticks up to mu_s N."""

    supports: ClassVar[frozenset[str]] = _STICKING
    reference: ClassVar[str] = "marques2016"

    mu_s: Static
    stick_speed: StickSpeed = 1e-6
    law: Literal["stiction"] = "stiction"


@described
class Viscous(_Friction):
    """mu_k N + c_v v."""

    supports: ClassVar[frozenset[str]] = _STICKING
    reference: ClassVar[str] = "marques2016"

    c_v: Viscosity
    stick_speed: StickSpeed = 1e-6
    law: Literal["viscous"] = "viscous"


@described
class Stribeck(_Friction):
    """[mu_k + (mu_s - mu_k) exp(-(v/v_s)^p)] N + c_v v."""

    supports: ClassVar[frozenset[str]] = _STICKING
    reference: ClassVar[str] = "armstrong1994"

    mu_s: Static
    v_s: StribeckSpeed
    p: Exponent = 2.0
    c_v: Viscosity = 0.0
    stick_speed: StickSpeed = 1e-6
    law: Literal["stribeck"] = "stribeck"


@described
class Karnopp(_Friction):
    """mu_k N; sticks below stick_speed up to mu_s N."""

    supports: ClassVar[frozenset[str]] = _STICKING
    reference: ClassVar[str] = "karnopp1985"

    mu_s: Static
    stick_speed: StickSpeed = 1e-3
    law: Literal["karnopp"] = "karnopp"


@described
class BengisuAkay(_Friction):
    """mu_s N [1 - (v - v0)^2/v0^2] below v0, [mu_k + (mu_s - mu_k) exp(-xi (v - v0))] N above."""

    supports: ClassVar[frozenset[str]] = _SMOOTHED
    reference: ClassVar[str] = "bengisu1994"
    kinks: ClassVar[tuple[str, ...]] = ("v0",)

    mu_s: Static
    v0: LowerSpeed
    xi: Decay
    law: Literal["bengisu-akay"] = "bengisu-akay"


@described
class Ambrosio(_Friction):
    """0 below v0, mu_k N above v1, linear between."""

    supports: ClassVar[frozenset[str]] = _SMOOTHED
    reference: ClassVar[str] = "ambrosio2003"
    kinks: ClassVar[tuple[str, ...]] = ("v0", "v1")

    v0: LowerSpeed
    v1: UpperSpeed
    law: Literal["ambrosio"] = "ambrosio"


@described
class Atan(_Friction):
    """mu_k N (2/pi) atan(sharpness v)."""

    supports: ClassVar[frozenset[str]] = _SMOOTHED
    reference: ClassVar[str] = "marques2016"

    sharpness: Sharpness
    law: Literal["atan"] = "atan"


@described
class Tanh(_Friction):
    """mu_k N tanh(sharpness v)."""

    supports: ClassVar[frozenset[str]] = _SMOOTHED
    reference: ClassVar[str] = "marques2016"

    sharpness: Sharpness
    law: Literal["tanh"] = "tanh"


@described
class StepStribeck(_Friction):
    """cubic up to mu_s N at v0, cubic down to mu_k N at v1, mu_k N above."""

    supports: ClassVar[frozenset[str]] = _SMOOTHED
    reference: ClassVar[str] = "marques2016"
    kinks: ClassVar[tuple[str, ...]] = ("v0", "v1")

    mu_s: Static
    v0: LowerSpeed
    v1: UpperSpeed
    law: Literal["step-stribeck"] = "step-stribeck"


@described
class Dahl(_Friction):
    """bristles: z' = v (1 - sigma0 z/(mu_k N))^p, force sigma0 z."""

    supports: ClassVar[frozenset[str]] = _BRISTLES
    reference: ClassVar[str] = "dahl1976"

    sigma0: BristleStiffness
    p: Exponent = 1.0
    least_normal: LeastNormal = 1.0
    law: Literal["dahl"] = "dahl"


@described
class LuGre(_Friction):
    """bristles: z' = v - sigma0 abs(v) z/g, force sigma0 z + sigma1 z' + sigma2 v, g as in stribeck with p = 2."""

    supports: ClassVar[frozenset[str]] = _BRISTLES
    reference: ClassVar[str] = "canudas1995"

    mu_s: Static
    v_s: StribeckSpeed
    sigma0: BristleStiffness
    sigma1: BristleDamping
    sigma2: Viscosity = 0.0
    least_normal: LeastNormal = 1.0
    law: Literal["lugre"] = "lugre"


FRICTION_LAWS: dict[str, type[Friction]] = Friction.laws  # by name, in the order of this file
if TYPE_CHECKING:
    AnyFriction = Friction
else:
    AnyFriction = one_of(Friction)
