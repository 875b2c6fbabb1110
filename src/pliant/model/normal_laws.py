"""Normal laws: the force of a contact along its normal. d depth of penetration, d' its rate, e restitution asked
for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from pliant.model.laws import Law, Quantity, one_of
from pliant.model.quantities import NonNegative, Number, Positive, described


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


_Stiffness = Annotated[
    Annotated[Positive, Tag("number")] | Annotated[Hertz, Tag("hertz")],
    Discriminator(lambda value: "hertz" if isinstance(value, (dict, Hertz)) else "number"),
]
Stiffness = Annotated[_Stiffness, Quantity("K, or a table of radii and materials", "N/m^n")]
Exponent = Annotated[Positive, Quantity("n, 1 or more")]
Restitution = Annotated[Positive, Field(le=1), Quantity("asked for; the law decides what is delivered")]
Damper = Annotated[NonNegative, Quantity("of the damper", "N s/m")]
DampingFactor = Annotated[NonNegative, Quantity("in place of restitution: K d^n (1 + damping d')", "s/m")]


class NormalLaw(Law):
    """Force of a contact along the normal, by a law: NormalLaw("flores", 1e8, restitution=0.7), or Flores(1e8, 0.7).

    The laws with restitution are F = K d^n (1 + X d'/v_in), v_in the speed at which this contact began; they differ in
    X(e). No law ever pulls."""

    family: ClassVar[str] = "normal law"
    cost: ClassVar[str] = "one power"
    is_linear: ClassVar[bool] = False  # n is 1

    stiffness: float | Hertz
    exponent: float
    if TYPE_CHECKING:
        restitution: float | None  # None: the law has none, or has damping instead
        damping: float | None

    def __init__(
        self,
        law: str,
        stiffness: float | Hertz,
        exponent: float | None = None,
        restitution: float | None = None,
        damping: float | None = None,
    ) -> None:
        raise TypeError(self, "is made by its law")  # the signature of the family; laws have their own

    @classmethod
    def takes(cls) -> tuple[str, ...]:
        """What says how much it damps: exactly one of these is needed."""
        return tuple(key for key in ("restitution", "damping") if key in (each.name for each in cls.parameters()))

    @property
    def K(self) -> float:
        return self.stiffness.stiffness if isinstance(self.stiffness, Hertz) else self.stiffness

    @property
    def n(self) -> float:
        return self.exponent

    @property
    def X(self) -> float:
        """Damping of the laws with restitution, 0 without."""
        return 0.0

    @property
    def form(self) -> str:
        """Of the force: "power" K d^n (1 + X d'/v_in), "given" K d^n (1 + damping d'), "visco" K d + damping d'."""
        return "power"

    def problems(self) -> Iterator[str]:
        if self.is_linear and self.n != 1.0:
            yield f"exponent {self.n:g} found; the law {self.law} has exponent 1: leave it out, or choose hertz"
        if isinstance(self.stiffness, Hertz) and self.n != 1.5:
            yield (
                f"exponent {self.n:g} found; a stiffness from radii and materials belongs to exponent 1.5: leave it out"
            )
        if self.n < 1.0:
            yield f"exponent {self.n:g} found; give 1 or more (the force must grow from 0 with the depth)"

    @classmethod
    def _no_effect(cls, key: str, taken: list[str]) -> str:
        other = f"give {' or '.join(cls.takes())} instead" if cls.takes() else "leave it out"
        return f"{key} has no effect in the law {cls.name}; {other}"


@described
class RestitutionLaw(NormalLaw):
    """F = K d^n (1 + X(e) d'/v_in)."""

    supports: ClassVar[frozenset[str]] = frozenset({"restitution"})

    stiffness: Stiffness
    restitution: Restitution
    exponent: Exponent = 1.5

    @staticmethod
    def damping_factor(e: float) -> float:
        """X(e)."""
        raise NotImplementedError

    @property
    def X(self) -> float:
        return self.damping_factor(self.restitution)


@described
class Hooke(NormalLaw):
    """K d."""

    reference: ClassVar[str] = "johnson1985"
    is_linear: ClassVar[bool] = True

    stiffness: Stiffness
    exponent: Exponent = 1.0
    law: Literal["hooke"] = "hooke"


@described
class KelvinVoigt(NormalLaw):
    """K d + damping d'."""

    supports: ClassVar[frozenset[str]] = frozenset({"damping"})
    reference: ClassVar[str] = "goldsmith1960"
    is_linear: ClassVar[bool] = True

    stiffness: Stiffness
    damping: Damper
    exponent: Exponent = 1.0
    law: Literal["kelvin-voigt"] = "kelvin-voigt"

    @property
    def form(self) -> str:
        return "visco"


@described
class HertzLaw(NormalLaw):
    """K d^n.

    Hertz is what makes K from radii and materials."""

    reference: ClassVar[str] = "johnson1985"

    stiffness: Stiffness
    exponent: Exponent = 1.5
    law: Literal["hertz"] = "hertz"


@described
class HuntCrossley(NormalLaw):
    """X = 3/2 (1 - e); or with damping in place of restitution K d^n (1 + damping d')."""

    supports: ClassVar[frozenset[str]] = frozenset({"restitution", "damping"})
    reference: ClassVar[str] = "hunt1975"

    stiffness: Stiffness
    restitution: Restitution | None = None
    damping: DampingFactor | None = None
    exponent: Exponent = 1.5
    law: Literal["hunt-crossley"] = "hunt-crossley"

    @staticmethod
    def damping_factor(e: float) -> float:
        """X(e)."""
        return 1.5 * (1.0 - e)

    @property
    def X(self) -> float:
        return 0.0 if self.restitution is None else self.damping_factor(self.restitution)

    @property
    def form(self) -> str:
        return "given" if self.damping else "power"

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.restitution is None and self.damping is None:
            yield f"the law {self.law} needs restitution or damping; give it"
        if self.restitution is not None and self.damping is not None:
            yield f"restitution and damping are both given; the law {self.law} takes one of them: leave one out"


@described
class HerbertMcWhannell(RestitutionLaw):
    """X = 6 (1 - e)/((2 e - 1)^2 + 3)."""

    reference: ClassVar[str] = "herbert1977"
    law: Literal["herbert-mcwhannell"] = "herbert-mcwhannell"

    @staticmethod
    def damping_factor(e: float) -> float:
        return 6.0 * (1.0 - e) / ((2.0 * e - 1.0) ** 2 + 3.0)


@described
class LeeWang(RestitutionLaw):
    """X = 3/4 (1 - e)."""

    reference: ClassVar[str] = "lee1983"
    law: Literal["lee-wang"] = "lee-wang"

    @staticmethod
    def damping_factor(e: float) -> float:
        return 0.75 * (1.0 - e)


@described
class LankaraniNikravesh(RestitutionLaw):
    """X = 3/4 (1 - e^2)."""

    reference: ClassVar[str] = "lankarani1990"
    law: Literal["lankarani-nikravesh"] = "lankarani-nikravesh"

    @staticmethod
    def damping_factor(e: float) -> float:
        return 0.75 * (1.0 - e**2)


@described
class Gonthier(RestitutionLaw):
    """X = (1 - e^2)/e."""

    reference: ClassVar[str] = "gonthier2004"
    law: Literal["gonthier"] = "gonthier"

    @staticmethod
    def damping_factor(e: float) -> float:
        return (1.0 - e**2) / e


@described
class ZhiyingQishao(RestitutionLaw):
    """X = 3/4 (1 - e^2) exp(2 (1 - e))."""

    reference: ClassVar[str] = "zhang2006"
    law: Literal["zhiying-qishao"] = "zhiying-qishao"

    @staticmethod
    def damping_factor(e: float) -> float:
        return 0.75 * (1.0 - e**2) * math.exp(2.0 * (1.0 - e))


@described
class Flores(RestitutionLaw):
    """X = 8/5 (1 - e)/e."""

    reference: ClassVar[str] = "flores2011"
    law: Literal["flores"] = "flores"

    @staticmethod
    def damping_factor(e: float) -> float:
        return 1.6 * (1.0 - e) / e


@described
class GharibHurmuzlu(RestitutionLaw):
    """X = 1/e, meant for small e."""

    reference: ClassVar[str] = "gharib2012"
    law: Literal["gharib-hurmuzlu"] = "gharib-hurmuzlu"

    @staticmethod
    def damping_factor(e: float) -> float:
        return 1.0 / e


@described
class HuGuo(RestitutionLaw):
    """X = 3/2 (1 - e)/e."""

    reference: ClassVar[str] = "hu2015"
    law: Literal["hu-guo"] = "hu-guo"

    @staticmethod
    def damping_factor(e: float) -> float:
        return 1.5 * (1.0 - e) / e


@described
class Exact(RestitutionLaw):
    """ln((1 + X)/(1 - X e)) = X (1 + e): what is asked for is delivered."""

    reference: ClassVar[str] = "hunt1975"
    law: Literal["exact"] = "exact"

    @staticmethod
    def damping_factor(e: float) -> float:
        """The root with X e < 1."""
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


NORMAL_LAWS: dict[str, type[NormalLaw]] = NormalLaw.laws  # by name, in the order of this file
if TYPE_CHECKING:
    AnyNormalLaw = NormalLaw
else:
    AnyNormalLaw = one_of(NormalLaw)
