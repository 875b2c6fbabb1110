"""Model files: TOML in, TOML out, and the JSON schema that editors use to help writing them."""

import dataclasses
import difflib
import inspect
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import pydantic

from pliant.engine.run_options import check_run, run_schema
from pliant.errors import ModelError
from pliant.files import as_path, write_whole
from pliant.io.controller_file import resolved, source_of
from pliant.io.merging import merged
from pliant.io.parameters import FILE_KEYS, REFERENCE, assign, filled
from pliant.io.parameters import KEY as PARAMETERS_KEY
from pliant.io.plain_file import read_plain
from pliant.model import (
    attitudes,
    bodies,
    contacts,
    control_laws,
    denavit_hartenberg,
    flexible,
    friction_laws,
    joints,
    model,
    normal_laws,
    segmented_beams,
    signals,
    springs,
    transmissions,
)
from pliant.model.denavit_hartenberg import DenavitHartenberg
from pliant.model.laws import Law
from pliant.model.messages import explain, listed, quoted, shown, unknown_keys
from pliant.model.model import Model
from pliant.model.quantities import field_words
from pliant.model.segmented_beams import SegmentedBeam
from pliant.model.signals import Constant

_MODEL = pydantic.TypeAdapter(Model)
# tables that make bodies, joints and frames
_MAKERS: dict[str, pydantic.TypeAdapter[Any]] = {
    "denavit_hartenberg": pydantic.TypeAdapter(DenavitHartenberg),
    "segmented_beam": pydantic.TypeAdapter(SegmentedBeam),
}
_MADE = {
    "denavit_hartenberg": ("DenavitHartenberg", "rows that make bodies, joints and frames of an arm"),
    "segmented_beam": ("SegmentedBeam", "makes bodies, joints and the tip of a beam of rigid segments"),
}
DEEPEST = 50  # levels of tables and lists in a file
MAX_KEYS = 250_000  # in a file, and headings
MAX_VALUES = 1_000_000  # in the lists of a file
MANY_VALUES = 200_000  # of which the first ones are looked at first
BEGINNING = 100  # items of a list
MAX_PARTS = 10  # of a dotted key: a.b.c
LARGEST_INTEGER = 2**63  # as TOML has it
QUOTED = r'"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*+\''
# a dotted key that is too long; else quotes, closed or not, so that nothing is looked at twice
KEYS_AND_QUOTES = re.compile(
    rf"((?<![A-Za-z0-9_-])(?:(?>[A-Za-z0-9_-]+|{QUOTED})[ \t]*\.[ \t]*){{{MAX_PARTS}}})"
    rf"|\"{{3,}}|'{{3,}}|{QUOTED}|[\"'][^\n]*+"
)

# reading


def load_model(path: str | os.PathLike[str], *, trust: bool = False) -> Model:
    """The model in a TOML file. With trust, the Python files of its controllers ("control.py:law") are run."""
    path = as_path(path)
    return checked_model(path, filled_tables(path, parse_file(path)), trust)


def filled_tables(path: Path, data: dict[str, Any], given: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """The tables of a file with its parameters, and with the keys given, in their places."""
    check_values(path, data)
    return filled(path, data, dict(given))


def checked_model(path: Path, data: dict[str, Any], trust: bool = False) -> Model:
    """The model that tables describe; messages name the file. With trust, controllers are imported from beside it."""
    loaded = described_model(path, data)
    ready = tuple(resolved(controller, path, trust) for controller in loaded.controllers)
    return dataclasses.replace(loaded, controllers=ready) if ready else loaded


def with_keys(model: Model, values: Mapping[str, Any]) -> Model:
    """A model with other values under keys of its file, as "joints.elbow.stiffness"."""
    place, tables = Path(model.name), model_tables(model)
    for key, value in values.items():
        assign(place, tables, key, value)
    return checked_model(place, tables)


def described_model(path: Path, data: dict[str, Any]) -> Model:
    """The model that tables describe; functions of controllers stay texts."""
    if check_values(path, data) > MANY_VALUES:
        _check_beginnings(path, data)
    unknown = unknown_keys(data, FILE_KEYS)
    if unknown:
        raise ModelError("\n".join(f"{path.name}: {line}" for line in unknown))
    data = _with_made(path, data)
    try:
        loaded = _MODEL.validate_python(data)
    except pydantic.ValidationError as error:
        raise ModelError(explain(error, path.name, data)) from None
    try:
        check_run(loaded.run)
    except ModelError as error:
        raise ModelError(f"{path.name}: {error}") from None
    return loaded


def _with_made(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    """Denavit-Hartenberg rows and segmented beams as bodies, joints and frames; tables of the file with their names
    change them."""
    given = [key for key in _MAKERS if key in data]
    rest = {key: value for key, value in data.items() if key not in given}
    made: dict[str, list[Any]] = {"bodies": [], "joints": [], "frames": []}
    for key in given:
        try:
            maker = _MAKERS[key].validate_python(data[key])
        except pydantic.ValidationError as error:
            raise ModelError(explain(error, f"{path.name}: {key}", data[key])) from None
        for kind, tables in made.items():
            tables += [_plain(item) for item in getattr(maker, kind)]
    return merged({key: tables for key, tables in made.items() if tables}, rest) if given else data


def parse_file(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    return _parse(path, read_text(path))


def _check_beginnings(path: Path, data: dict[str, Any]) -> None:
    """The first items of every list, for mistakes that do not depend on the others: a million would take gigabytes."""

    def beginning(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: beginning(item) for key, item in value.items()}
        return [beginning(item) for item in value[:BEGINNING]] if isinstance(value, list) else value

    try:
        _MODEL.validate_python(beginning(data))
    except pydantic.ValidationError as error:
        if found := explain(error, path.name, data, is_apart=True):
            raise ModelError(found) from None


def check_values(path: Path, data: dict[str, Any]) -> int:
    """How many there are; refuses nesting that Python's stack could not follow, and whole numbers that TOML has not."""
    level: list[Any] = [data]
    count = 0
    for _ in range(DEEPEST):
        lists = [one.values() if isinstance(one, dict) else one for one in level]
        count += sum(map(len, lists))
        for one in lists:
            for item in one:
                if type(item) is int and not -LARGEST_INTEGER <= item < LARGEST_INTEGER:
                    raise ModelError(f"{path.name}: {_TOO_LONG}")
        level = [item for one in lists for item in one if isinstance(item, (dict, list))]
        if not level:
            return count
    raise ModelError(f"{path.name}: tables and lists are nested deeper than {DEEPEST} levels; no model needs that")


_TOO_LONG = "a whole number in it has more than 63 bits; write large numbers as 1e20"


def read_text(path: Path) -> str:
    """The text of a file, or a message."""
    if "\0" in str(path):
        raise ModelError(f"{str(path)!r}: a file name has no null characters; check it")
    try:
        return read_plain(path).decode("utf-8-sig")
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file{_near_files(path)}") from None
    except IsADirectoryError:
        raise ModelError(
            f"{path}: this is a folder; give a model file in it{_near_files(path / 'model.toml')}"
        ) from None
    except UnicodeDecodeError as error:
        raise ModelError(f"{path.name}: byte {error.start} is not UTF-8; save the file as UTF-8 text") from None
    except OSError as error:
        raise ModelError(f"{path}: the file cannot be read ({error.strerror}); check its permissions") from None


def _near_files(path: Path) -> str:
    if not path.parent.is_dir():
        return f"; the folder '{path.parent}' does not exist either"
    suffix = path.suffix or ".toml"
    try:
        every = sorted(os.listdir(path.parent)[:1000])
    except OSError:
        return ""
    files = [name for name in every if name.endswith(suffix)]
    near = files or [name for name in every if name.endswith((".toml", ".urdf", ".xml"))]
    near = difflib.get_close_matches(path.name, near, n=3) or files
    return f"; in that folder there are: {listed(near, 5)}" if near else f"; that folder has no {suffix} files"


def _parse(path: Path, text: str) -> dict[str, Any]:
    if max(text.count("="), text.count("\n[")) > MAX_KEYS:
        raise ModelError(f"{path.name}: it has more than {MAX_KEYS} keys; no model has so many")
    if text.count(",") > MAX_VALUES:
        raise ModelError(f"{path.name}: its lists have more than {MAX_VALUES} values; no model has so many")
    for found in KEYS_AND_QUOTES.finditer(text):
        if found[1]:
            where = f"{path.name}: line {text.count(chr(10), 0, found.start()) + 1}"
            raise ModelError(f"{where}: the key {shown(found[1])} has more than {MAX_PARTS} parts; no model has one")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ModelError(f"{path.name}: brackets are nested too deeply; check that every one is closed") from None
    except tomllib.TOMLDecodeError as error:
        match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error), re.DOTALL)
        if match is None:
            raise ModelError(f"{path.name}: {error}; check that every bracket and quote is closed") from None
        what, line, column = match[1], int(match[2]), match[3]
        source = text.split("\n")[line - 1].strip()
        raise ModelError(f"{path.name}: line {line}, column {column}: {what}; the line reads: {source}") from None
    except ValueError:  # of int(), for thousands of digits
        raise ModelError(f"{path.name}: {_TOO_LONG}") from None


# writing


def save_model(described: Model, path: str | os.PathLike[str]) -> None:
    """Write a file from which load_model makes an equal model. Defaults are left out; the file appears whole or not."""
    path = as_path(path)
    if not isinstance(described, Model):
        raise ModelError(f"save_model: {quoted(described)} is no Model; give a pliant.Model")
    named = tuple(
        dataclasses.replace(each, function=source_of(each, path)) if each.law is None else each
        for each in described.controllers
    )
    if named:
        described = dataclasses.replace(described, controllers=named)
    text = "\n".join(_lines(model_tables(described))).strip() + "\n"
    write_whole(path, text)


def model_tables(described: Model) -> dict[str, Any]:
    """The tables of a model file."""
    tables: dict[str, Any] = _plain(described)
    return tables


def _plain(value: Any) -> Any:
    """Tables, lists, numbers and text. Without defaults, but with the kind where it tells classes apart."""
    if isinstance(value, Constant):
        return value.value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not dataclasses.is_dataclass(value):
        return value
    given = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    defaults = {field.name: field.default for field in dataclasses.fields(value)}
    table = {key: _plain(item) for key, item in given.items() if item != defaults[key] or _is_tag(value, key)}
    if isinstance(value, Model) and value.is_base_given:
        table.setdefault("base", "fixed")  # a base that is meant to be fixed
    first = [key for key in ("name", "kind", "law") if key in table]
    return {key: table[key] for key in [*first, *table]}


def _is_tag(value: Any, key: str) -> bool:
    """Whether a key is the kind (or law) that tells classes apart: it allows one word only. Bodies are rigid
    by default."""
    return (
        key in ("kind", "law")
        and getattr(value, key) != "rigid"
        and len(get_args(type(value).__pydantic_fields__[key].annotation)) == 1
    )


def _lines(table: dict[str, Any]) -> Iterator[str]:
    """Plain keys first, then [tables], then [[lists of tables]], each of their keys on one line."""
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    lists = {key: value for key, value in table.items() if isinstance(value, list) and isinstance(value[0], dict)}
    for key, value in table.items():
        if key not in tables and key not in lists:
            yield f"{key} = {_value(value)}"
    headed = [(f"[{key}]", value) for key, value in tables.items()]
    headed += [(f"[[{key}]]", item) for key, items in lists.items() for item in items]
    for heading, items in headed:
        yield f"\n{heading}"
        yield from (f"{key} = {_value(value)}" for key, value in items.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, str):
        # JSON text is TOML text, but for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, int) else repr(float(value))


# schema


def schema() -> dict[str, Any]:
    """JSON schema (2020-12) of a model file. Descriptions are docstrings and the comments behind the fields."""
    made = _any_of(_MODEL.json_schema())
    for key, (name, _) in _MADE.items():
        own = _any_of(_MAKERS[key].json_schema())
        made["$defs"] |= {name: {key: value for key, value in own.items() if key != "$defs"}, **own.get("$defs", {})}
    made["$defs"] = {name: _with_descriptions(name, part) for name, part in made["$defs"].items()}
    made = _with_descriptions("Model", made)
    for key, (name, words) in _MADE.items():
        made["properties"][key] = {"description": words, "$ref": f"#/$defs/{name}"}
    # these may make the bodies
    made["required"] = [key for key in made["required"] if key != "bodies"]
    made["anyOf"] = [{"required": [key]} for key in ("bodies", *_MAKERS)]
    made = _with_parameters(made)
    made["properties"]["run"] = {"description": made["properties"]["run"]["description"], **run_schema()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pliant model",
        **{key: value for key, value in made.items() if key != "title"},
    }


def _with_parameters(schema: dict[str, Any]) -> dict[str, Any]:
    """With the table of parameters, and their names wherever a number or a list may stand."""

    def either(part: Any) -> Any:
        if isinstance(part, list):
            return [either(item) for item in part]
        if not isinstance(part, dict):
            return part
        inner = {
            key: either(value) if key not in ("enum", "const", "default") else value for key, value in part.items()
        }
        if inner.get("type") not in ("number", "integer", "boolean", "array"):
            return inner
        words = {key: inner.pop(key) for key in ("description", "default", "title") if key in inner}
        return {**words, "anyOf": [inner, {"type": "string", "pattern": REFERENCE}]}

    made: dict[str, Any] = either(schema)
    values = ["number", "string", "boolean", "array"]
    made["properties"][PARAMETERS_KEY] = {
        "description": 'values by name, which "$name" stands for',
        "type": "object",
        "additionalProperties": {"type": values},
    }
    return made


def _with_descriptions(name: str, part: dict[str, Any]) -> dict[str, Any]:
    rooms = (
        model,
        joints,
        transmissions,
        springs,
        denavit_hartenberg,
        segmented_beams,
        control_laws,
        contacts,
        normal_laws,
        friction_laws,
        attitudes,
        bodies,
        flexible,
        signals,
    )
    cls = next(getattr(room, name) for room in rooms if isinstance(getattr(room, name, None), type))
    comments, properties = field_words(cls), {}
    for key, value in part["properties"].items():
        inner = [one["description"] for one in value.get("anyOf", ()) if "description" in one]
        words = comments.get(key) or next(iter(inner), "")
        properties[key] = {"description": words, **value} if words else value
    if issubclass(cls, Law):
        part = {**part, "required": ["law", *part["required"]]}  # it says which table this is
    return {"description": inspect.cleandoc(cls.__doc__ or ""), **part, "properties": properties}


def _any_of(schema: Any) -> Any:
    """oneOf as anyOf: four numbers may be read as a quaternion and as a list of numbers, and both are right."""
    if isinstance(schema, dict):
        return {"anyOf" if key == "oneOf" else key: _any_of(value) for key, value in schema.items()}
    return [_any_of(value) for value in schema] if isinstance(schema, list) else schema
