"""What all laws of contact and friction share: a law is a small frozen class that is its own row in every listing.

A family (NormalLaw, Friction) called with the name of a law makes that law: NormalLaw("flores", 1e8, restitution=0.7)
is Flores(1e8, 0.7), and so is the table { law = "flores", ... } of a model file."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import operator
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import pydantic
from pydantic import BeforeValidator

from pliant.errors import ModelError
from pliant.model.messages import closest, explain, listed, shown
from pliant.model.parameters import Parameter
from pliant.model.quantities import LARGEST, unknown_attribute


class Quantity:
    """Said of the type of a field: what it is, and its unit. The range is that of the type."""

    def __init__(self, words: str, unit: str = "") -> None:
        self.words, self.unit = words, unit

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        unit = f" [{self.unit}]" if self.unit else ""
        return {"description": self.words + unit, **handler(core_schema)}


class _Family(type):
    """Calling the family itself, which is no law, makes the law that is named."""

    if not TYPE_CHECKING:

        def __call__(cls, *args, **fields):
            return super().__call__(*args, **fields) if cls.name else cls._named(*args, **fields)


class Law(metaclass=_Family):
    """What a law says of itself: its name (`law`), its formula, what it supports, who found it; its parameters are its
    fields."""

    family: ClassVar[str]
    name: ClassVar[str] = ""  # that of the field `law`
    summary: ClassVar[str]  # its formula: the first line of the docstring
    supports: ClassVar[frozenset[str]] = frozenset()
    cost: ClassVar[str]
    reference: ClassVar[str]  # key in docs/bibliography.md
    keys: ClassVar[tuple[str, ...]] = ()  # of all laws of the family
    laws: ClassVar[dict[str, type[Any]]] = {}  # of the family, by name

    law: str  # which law

    def __init_subclass__(cls) -> None:
        if Law in cls.__bases__:
            taken = list(inspect.signature(cls.__init__).parameters.values())[1:]
            cls.keys, cls.laws = tuple(one.name for one in taken), {}
            cls.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
        cls.name, cls.summary = cls.__dict__.get("law", ""), (cls.__doc__ or "").partition("\n")[0].removesuffix(".")
        if cls.name:
            cls.laws[cls.name] = cls

    def __post_init__(self) -> None:
        problems = "\n".join(self.problems())
        if problems:
            raise ValueError(problems)

    def problems(self) -> Iterator[str]:
        """What parameters that are right one by one get wrong together."""
        yield from ()

    if not TYPE_CHECKING:

        def __getattr__(self, key):
            """Parameters of other laws are None."""
            if key in type(self).keys:
                return None
            return unknown_attribute(self, key)

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Its own parameters."""
        found: tuple[Parameter, ...] = _parameters(cls)  # type: ignore[arg-type]
        return found

    @property
    def row(self) -> dict[str, Any]:
        """For summaries: what ran, so that it can be cited."""
        values = {each.name: getattr(self, each.name) for each in self.parameters()}
        plain = {
            key: dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value  # type: ignore[arg-type]
            for key, value in values.items()
            if value is not None
        }
        return {"name": self.name, "parameters": plain, "reference": self.reference}

    @classmethod
    def _title(cls) -> str:
        """How messages call it."""
        return f"{cls.family} '{cls.name}'" if cls.name else cls.family

    @classmethod
    def _named(cls, *args: Any, **fields: Any) -> Any:
        """The law of that name with these parameters, as in the signature of the family; None: not given."""
        if len(args) > len(cls.keys):
            raise ModelError(f"{cls.family}: {len(args)} values given; it takes at most {len(cls.keys)}")
        given = dict(zip(cls.keys, args, strict=False))
        for twice in given.keys() & fields.keys():
            raise ModelError(f"{cls.family}: '{twice}' is given twice, by place and by name; give it once")
        given = {key: value for key, value in (given | fields).items() if value is not None}
        try:
            return _adapter(cls).validate_python(given)
        except pydantic.ValidationError as error:
            raise ModelError(explain(error, cls.family, given)) from None

    @classmethod
    def _key_problems(cls, given: Mapping[str, Any]) -> Iterator[str]:
        """Keys that only other laws have, and those that are missing."""
        taken, needed = [each.name for each in cls.parameters()], [p.name for p in cls.parameters() if p.is_needed]
        for key in given:
            if key in cls.keys and key not in (*taken, "law"):
                yield cls._no_effect(key, taken)
        for key in needed:
            if key not in given:
                yield f"the law {cls.name} needs {key}; give it ({cls.name} takes {listed(taken)})"

    @classmethod
    def _no_effect(cls, key: str, taken: list[str]) -> str:
        return f"{key} has no effect in the law {cls.name}, which takes {listed(taken)}; leave it out"


@functools.cache
def _parameters(law: Any) -> tuple[Parameter, ...]:
    types = get_type_hints(law, include_extras=True)
    found = []
    for field in dataclasses.fields(law):
        said = list(_said_of(types[field.name]))
        meaning = next((one for one in said if isinstance(one, Quantity)), None)
        if meaning is None:
            continue  # the name of the law itself
        low = max((one.ge for one in said if hasattr(one, "ge")), default=-math.inf)
        above = max((one.gt for one in said if hasattr(one, "gt")), default=-math.inf)
        high = min((one.le for one in said if hasattr(one, "le")), default=math.inf)
        is_needed = field.default is dataclasses.MISSING
        found.append(
            Parameter(
                meaning.words,
                meaning.unit,
                max(low, above),
                math.inf if high == LARGEST else high,
                is_open=above >= low,
                key=field.name,
                name=field.name,
                default=None if is_needed else field.default,
                is_needed=is_needed,
            )
        )
    return tuple(sorted(found, key=lambda one: law.keys.index(one.name)))


def _said_of(kind: Any) -> Iterator[Any]:
    """What the annotations of a type say; of a union, those of its first member."""
    if get_origin(kind) is Annotated:
        first, *said = get_args(kind)
        yield from (inner for one in said for inner in getattr(one, "metadata", None) or [one])
        yield from _said_of(first)
    elif get_args(kind):
        yield from _said_of(get_args(kind)[0])


@functools.cache
def _adapter(family: Any) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(one_of(family))


def one_of(family: Any) -> Any:
    """The type of a field that holds one law of a family, or its table."""

    def checked(value: Any) -> Any:
        if isinstance(value, family):
            return value
        if not isinstance(value, dict):
            laws = f"law = one of {listed(family.laws, 20)}"
            raise ValueError(f"found {shown(value)}; give a {family.__name__} (in a file: a table with {laws})")
        if "law" not in value:
            raise ValueError(f"'law' is missing; give it, as one of {listed(family.laws, 20)}")
        law = value["law"]
        if not isinstance(law, str) or law not in family.laws:
            hint = closest(law, family.laws) if isinstance(law, str) else ""
            raise ValueError(f"law {shown(law)} is not known{hint or ';'} allowed: {listed(family.laws, 20)}")
        return value

    laws: Any = functools.reduce(operator.or_, family.laws.values())
    return Annotated[laws, pydantic.Field(discriminator="law"), BeforeValidator(checked)]
