"""The types of model fields: finite numbers, vectors, angles with units. numpy and pydantic only.

The comment behind a field is its description in the schema of model files."""

import dataclasses
import inspect
import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, dataclass_transform

import numpy as np
import pydantic
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Field
from pydantic_core import ArgsKwargs

from pliant.errors import FrozenModelError, ModelError, UnknownAttributeError
from pliant.model.messages import KEYS, MAX_LINES, closest, explain, listed, quoted, short, shown, unknown_keys

T = TypeVar("T")

DEGREE = math.pi / 180.0
ANGLE_UNITS = {"rad": 1.0, "deg": DEGREE}
LONGEST_ANGLE = 400  # characters of an angle in text


def parse_angle(value: Any) -> Any:
    """A number is radians; text is a number and one of ANGLE_UNITS: "30 deg"."""
    if not isinstance(value, str):
        return value
    if len(value) > LONGEST_ANGLE:
        raise ValueError(f'{shown(value)} has {len(value)} characters; write a number of radians or text like "30 deg"')
    match = re.fullmatch(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s.]*)\s*", value)
    if match is None:
        raise ValueError(f'"{value}" is not a number with a unit; write a number of radians or text like "30 deg"')
    number, unit = match.groups()
    if unit not in ANGLE_UNITS:
        found = f'the unit "{unit}"' if unit else "no unit"
        raise ValueError(f'"{value}" has {found}; an angle in text takes "deg" or "rad", as in "30 deg"')
    return float(number) * ANGLE_UNITS[unit]


def is_angle_text(value: Any) -> bool:
    """Return True for text that begins like an angle: a number, and no word."""
    return isinstance(value, str) and re.match(r"\s*[-+]?\.?\d", value) is not None


def _parse_angles(value: Any) -> Any:
    """Angles in a list; only those that are text take time."""
    if isinstance(value, (list, tuple)) and any(isinstance(item, str) for item in value):
        return [parse_angle(item) for item in value]
    return value


def without_direction(what: str, vector: tuple[float, ...]) -> str:
    """The message for a vector that is zero, or so small that its length is lost; empty if all is well."""
    if math.hypot(*vector) > SMALLEST:
        return ""
    return f"{what} ({', '.join(f'{x:g}' for x in vector)}) has no direction; give a non-zero {what}"


def _count(count: int) -> BeforeValidator:
    """Refuses lists of another length in one line."""

    def check(value: Any) -> Any:
        if isinstance(value, (list, tuple)) and len(value) != count:
            raise ValueError(f"{shown(value)} has {len(value)} values; give {count}")
        return value

    return BeforeValidator(check)


DIRECTION_WORDS = {
    f"{sign}{axis}": tuple(size if k == at else 0.0 for k in range(3))
    for sign, size in (("", 1.0), ("+", 1.0), ("-", -1.0))
    for at, axis in enumerate("xyz")
}


def _direction(value: Any) -> Any:
    """Also by its letter: "x", "-y"."""
    if not isinstance(value, str):
        return value
    if value.strip().lower() not in DIRECTION_WORDS:
        raise ValueError(f'{shown(value)} is no direction; give three numbers, or "x", "y", "z", "-x", "-y" or "-z"')
    return DIRECTION_WORDS[value.strip().lower()]


def _three(value: Any) -> Any:
    """A number alone may be meant along z, or down: which, its user must say."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        raise ValueError(f"found the number {shown(value)}; give three, as in [0, 0, {shown(value)}]")
    return value


def _not_tiny(value: float) -> float:
    """So that products of a few of them are not lost, nor their quotients too large."""
    if value < SMALLEST:
        raise ValueError(f"found {value:g}; give {SMALLEST:g} or more")
    return value


DEEPEST = 50  # lists in lists
SMALLEST = 1e-60
LARGEST = 1e35  # beyond all that is built, and small enough for products of inertias and lengths
Number = Annotated[float, Field(allow_inf_nan=False, strict=True, ge=-LARGEST, le=LARGEST)]
Positive = Annotated[float, Field(allow_inf_nan=False, strict=True, gt=0, le=LARGEST), AfterValidator(_not_tiny)]
NonNegative = Annotated[float, Field(allow_inf_nan=False, strict=True, ge=0, le=LARGEST)]
if TYPE_CHECKING:  # more forms may be given than a field then has
    Angle: TypeAlias = Any
    Vector: TypeAlias = Any
    Direction: TypeAlias = Any
    Angles: TypeAlias = Any
    Matrix: TypeAlias = Any
    Quaternion: TypeAlias = Any
else:
    Angle = Annotated[Number, BeforeValidator(parse_angle, json_schema_input_type=float | str)]
    Vector = Annotated[tuple[Number, Number, Number], _count(3), BeforeValidator(_three)]
    Direction = Annotated[Vector, BeforeValidator(_direction, json_schema_input_type=Vector | str)]
    Angles = Annotated[tuple[Angle, Angle, Angle], _count(3)]
    Matrix = Annotated[tuple[Vector, Vector, Vector], _count(3)]
    Quaternion = Annotated[tuple[Number, Number, Number, Number], _count(4)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_\-]*$", max_length=80)]

if TYPE_CHECKING:
    Many: TypeAlias = Sequence[T]
    Numbers: TypeAlias = Any
    AngleList: TypeAlias = Any
else:

    class Many:
        """Many[X]: a tuple of any length; a list may be given, too."""

        def __class_getitem__(cls, kind: Any) -> Any:
            return tuple[kind, ...]

    Numbers = Many[Number]
    AngleList = Annotated[Numbers, BeforeValidator(_parse_angles, json_schema_input_type=tuple[float | str, ...])]


# for unions of a value tagged "one" and a list of values tagged "each": only the form that was given is checked
ONE_OR_EACH = Discriminator(lambda value: "each" if isinstance(value, (list, tuple)) else "one")
# for unions of a text tagged "text" and something else tagged "other"
TEXT_OR_OTHER = Discriminator(lambda value: "text" if isinstance(value, str) else "other")


@dataclass_transform(frozen_default=True, kw_only_default=False, field_specifiers=(dataclasses.field,))
def described(cls: type[T]) -> type[T]:
    """A frozen dataclass that pydantic checks however it is made: in Python, from TOML, from JSON.

    Errors of pydantic become ModelError with the place and the allowed values."""
    cls._tidy = pydantic.model_validator(mode="before")(_tidy)  # type: ignore[attr-defined]
    made: type[T] = worded(pydantic.dataclasses.dataclass(frozen=True, config=ConfigDict(extra="forbid"))(cls))
    KEYS[made.__name__] = _field_names(made)
    # what dataclasses say of them names neither the fields nor the way out
    if not hasattr(made, "__getattr__"):
        made.__getattr__ = unknown_attribute  # type: ignore[attr-defined]
    made.__setattr__ = _refuse_change  # type: ignore[method-assign, assignment]
    return made


def unknown_attribute(self: Any, name: str) -> Any:
    """Raise an error that names the attributes there are; called for those that are not found."""
    if name.startswith("_"):  # asked for by Python and libraries
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    raise UnknownAttributeError(f"{_whose(self)}: no attribute {_unknown_field(self, name)}")


def _refuse_change(self: Any, name: str, value: Any) -> None:
    """Raise an error that says how to make another."""
    if name not in _field_names(type(self)):
        raise FrozenModelError(f"{_whose(self)}: no field {_unknown_field(self, name)}")
    raise FrozenModelError(
        f"{_whose(self)}: {name} cannot be changed; make another: dataclasses.replace(.., {name}={shown(value)})"
    )


def _whose(item: Any) -> str:
    """What messages call an object: Model 'arm', Joint 'elbow', Material."""
    name = item.__dict__.get("name")
    return f"{type(item).__name__} {quoted(short(name))}" if isinstance(name, str) else type(item).__name__


def _unknown_field(item: Any, name: str) -> str:
    """A name that a class does not have, the one that was probably meant, and those there are."""
    fields = _field_names(type(item))
    known = [*fields, *(each for each in dir(type(item)) if not each.startswith("_") and each not in fields)]
    return f"{quoted(short(name))}{closest(name, known) or ';'} there are {listed(known, 40)}"


def field_words(cls: type) -> dict[str, str]:
    """The comments behind the fields of a class: what each means, and its unit."""
    sources = [inspect.getsource(one) for one in reversed(cls.__mro__) if one.__module__.startswith("pliant.")]
    return dict(re.findall(r"^    (\w+): .*  # (.*)$", "\n".join(sources), re.MULTILINE))


def worded(made: Any) -> Any:
    """With messages of ours. To be done again after pydantic has rebuilt a class, which forgets it."""
    checked: Callable[..., None] = made.__init__

    def __init__(self: Any, *args: Any, **fields: Any) -> None:  # noqa: N807
        try:
            checked(self, *args, **fields)
        except pydantic.ValidationError as error:
            given = dict(zip(_positional_names(made), args, strict=False)) | fields
            raise ModelError(explain(error, _title(made, given), given)) from None

    __init__.__wrapped__ = checked  # type: ignore[attr-defined]
    made.__init__ = __init__
    return made


def argument_of(kind: Any, name: str) -> Callable[[Any], Any]:
    """A function that checks an argument of a call as a field of this type is checked."""
    adapter = pydantic.TypeAdapter(kind)

    def checked(value: Any) -> Any:
        try:
            return adapter.validate_python(_plain(value))
        except pydantic.ValidationError as error:
            raise ModelError(explain(error, name, value)) from None
        except ValueError as error:
            raise ModelError(f"{name}: {error}") from None

    return checked


def _title(cls: type, given: dict[str, Any]) -> str:
    """How messages call it: joint 'elbow', roll-pitch-yaw."""
    if hasattr(cls, "_title"):
        return str(cls._title())
    title = re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()
    return f"{title} '{given['name']}'" if isinstance(given.get("name"), str) else title


def _field_names(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def _positional_names(cls: type) -> tuple[str, ...]:
    """Return the fields that may be given by place, in the order of the signature: keyword-only ones stand behind."""
    return tuple(field.name for field in dataclasses.fields(cls) if not field.kw_only)


@classmethod  # type: ignore[misc]
def _tidy(cls: type, value: Any) -> Any:
    """Before the fields are checked: values get their names, numpy becomes plain, unknown keys are refused."""
    if isinstance(value, dict):
        value = _current_names(cls, value)
        _check_keys(cls, value)
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, ArgsKwargs):
        names = _positional_names(cls)
        if len(value.args) > len(names):
            others = [name for name in _field_names(cls) if name not in names]
            more = f"; give {listed(others)} by name" if others else ""
            raise ValueError(
                f"{len(value.args)} values given by place; it takes at most {len(names)}: {listed(names, 20)}{more}"
            )
        named, rest = dict(zip(names, value.args, strict=False)), _current_names(cls, value.kwargs or {})
        for twice in named.keys() & rest.keys():
            raise ValueError(f"'{twice}' is given twice, by place and by name; give it once")
        _check_keys(cls, named | rest)
        return ArgsKwargs((), {key: _plain(item) for key, item in (named | rest).items()})
    return value


# keys that have another name now, by class: they work one release longer
FORMER_NAMES = {"Base": {"spin": "angular_velocity"}}


def _current_names(cls: type, given: dict[str, Any]) -> dict[str, Any]:
    """Keys under their names of today, with a warning."""
    former = {old: new for old, new in FORMER_NAMES.get(cls.__name__, {}).items() if old in given and new not in given}
    for old, new in former.items():
        warnings.warn(f"{cls.__name__}: {old} is called {new} now", DeprecationWarning, stacklevel=5)
    return {former.get(key, key): item for key, item in given.items()}


def _check_keys(cls: type, given: dict[str, Any]) -> None:
    allowed = _field_names(cls)
    own = list(cls._key_problems(given)) if hasattr(cls, "_key_problems") else []  # of laws
    if own:
        raise ValueError("\n".join(own[:MAX_LINES]))
    lines = unknown_keys(given, allowed)
    if lines:
        raise ValueError("\n".join(lines))


def _plain(value: Any, depth: int = 0) -> Any:
    """numpy arrays and scalars as lists and numbers, also inside lists."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        if depth > DEEPEST:
            raise ValueError(f"found lists in lists, more than {DEEPEST} deep; give plain ones")
        return [_plain(item, depth + 1) for item in value]
    return value
