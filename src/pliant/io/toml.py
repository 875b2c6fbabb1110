"""Model files: TOML in, TOML out, and the JSON schema that editors use to help writing them."""

import dataclasses
import difflib
import importlib.util
import inspect
import json
import os
import re
import stat
import sys
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pydantic

from pliant.errors import ModelError
from pliant.files import as_path, write_whole
from pliant.model import attitudes, bodies, contacts, flexible, joints, model, signals
from pliant.model.control import Controller
from pliant.model.messages import closest, explain, listed, quoted
from pliant.model.model import Model
from pliant.model.signals import Constant

_MODEL = pydantic.TypeAdapter(Model)
MOST_BYTES = 100_000_000  # of a model file
DEEPEST = 50  # levels of tables and lists in a file

# reading


def load_model(path: str | os.PathLike[str]) -> Model:
    """The model in a TOML file. Controllers ("control.py:law") are imported from beside it, which runs that file."""
    return checked_model(as_path(path), parse_file(as_path(path)))


def checked_model(path: Path, data: dict[str, Any]) -> Model:
    """The model that tables describe; messages name the file, and controllers are imported from beside it."""
    check_depth(path, data)
    try:
        loaded = _MODEL.validate_python(data)
    except pydantic.ValidationError as error:
        raise ModelError(explain(error, path.name, data)) from None
    resolved = tuple(_resolve(controller, path) for controller in loaded.controllers)
    return dataclasses.replace(loaded, controllers=resolved) if resolved else loaded


def parse_file(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    return _parse(path, read_text(path))


def check_depth(path: Path, data: dict[str, Any]) -> None:
    """Refuses nesting that Python's stack could not follow."""
    level: list[Any] = [data]
    for _ in range(DEEPEST):
        lists = [one.values() if isinstance(one, dict) else one for one in level]
        level = [item for one in lists for item in one if isinstance(item, (dict, list))]
        if not level:
            return
    raise ModelError(f"{path.name}: tables and lists are nested deeper than {DEEPEST} levels; no model needs that")


def read_text(path: Path) -> str:
    """The text of a file, or a message. Pipes and devices could be endless, so only files are read."""
    if "\0" in str(path):
        raise ModelError(f"{str(path)!r}: a file name has no null characters; check it")
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError
        if not stat.S_ISREG(found.st_mode):
            raise ModelError(f"{path}: this is a pipe or a device; write what it gives to a file and name that")
        if found.st_size > MOST_BYTES:
            raise ModelError(f"{path}: the file has {found.st_size} bytes; no model file is larger than {MOST_BYTES}")
        return path.read_text(encoding="utf-8-sig")
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
    files = sorted(file.name for file in path.parent.glob(f"*{suffix}"))
    near = difflib.get_close_matches(path.name, files, n=3) or files
    return f"; in that folder there are: {listed(near, 5)}" if near else f"; that folder has no {suffix} files"


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ModelError(f"{path.name}: brackets are nested too deeply; check that every one is closed") from None
    except tomllib.TOMLDecodeError as error:
        match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error), re.DOTALL)
        if match is None:
            raise ModelError(f"{path.name}: {error}; check that every bracket and quote is closed") from None
        what, line, column = match[1], int(match[2]), match[3]
        source = text.splitlines()[line - 1].strip()
        raise ModelError(f"{path.name}: line {line}, column {column}: {what}; the line reads: {source}") from None


# controllers


def _resolve(controller: Controller, path: Path) -> Controller:
    if not isinstance(controller.function, str):
        return controller
    where = f"{path.name}: controller '{controller.name}'"
    file, name = controller.function.split(":")
    source = (path.parent / file).resolve()
    if not source.is_file():
        raise ModelError(f"{where}: file '{file}' does not exist; paths start at the folder of the model file")
    try:
        module = _import(source, source.stat().st_mtime_ns)
    except Exception as error:
        raise ModelError(
            f"{where}: '{file}' cannot be imported ({type(error).__name__}: {error}); correct it"
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        others = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        hint = closest(name, others) or ";"
        raise ModelError(f"{where}: '{file}' has no function '{name}'{hint} it has: {listed(others) or 'none'}")
    return dataclasses.replace(controller, function=function)


@lru_cache(maxsize=32)
def _import(source: Path, changed: int) -> ModuleType:
    """The module in a file; once per version of the file, so that equal models have equal functions."""
    spec = importlib.util.spec_from_file_location(f"pliant_controller_{source.stem}_{changed}", source)
    if spec is None or spec.loader is None:
        raise ImportError("no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _source_of(controller: Controller, path: Path) -> str:
    """A controller's function as "file.py:name", seen from a model file."""
    function: Any = controller.function
    if isinstance(function, str):
        return function
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", "")
    if code is None or not name.isidentifier() or not Path(code.co_filename).is_file():
        where = f"{path.name}: controller '{controller.name}'"
        raise ModelError(f"{where}: only functions at the top level of a .py file can be saved; move it to one")
    return f"{Path(os.path.relpath(code.co_filename, path.parent)).as_posix()}:{name}"


# writing


def save_model(described: Model, path: str | os.PathLike[str]) -> None:
    """Write a file from which load_model makes an equal model. Defaults are left out; the file appears whole or not."""
    path = as_path(path)
    if not isinstance(described, Model):
        raise ModelError(f"save_model: {quoted(described)} is no Model; give a pliant.Model")
    named = tuple(
        dataclasses.replace(controller, function=_source_of(controller, path)) for controller in described.controllers
    )
    if named:
        described = dataclasses.replace(described, controllers=named)
    text = "\n".join(_lines(model_tables(described))).strip() + "\n"
    try:
        write_whole(path, text)
    except OSError as error:
        raise ModelError(f"{path}: the file cannot be written ({error.strerror}); choose another place") from None


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
    first = [key for key in ("name", "kind") if key in table]
    return {key: table[key] for key in [*first, *table]}


def _is_tag(value: Any, key: str) -> bool:
    """Whether a key is the kind that tells classes apart: it allows one word only. Bodies are rigid unless told."""
    return (
        key == "kind"
        and value.kind != "rigid"
        and len(get_args(type(value).__pydantic_fields__["kind"].annotation)) == 1
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
    return repr(value) if isinstance(value, int) and not isinstance(value, bool) else repr(float(value))


# schema


def schema() -> dict[str, Any]:
    """JSON schema (2020-12) of a model file. Descriptions are docstrings and the comments behind the fields."""
    made = _any_of(_MODEL.json_schema())
    made["$defs"] = {name: _with_descriptions(name, part) for name, part in made["$defs"].items()}
    made = _with_descriptions("Model", made)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pliant model",
        **{key: value for key, value in made.items() if key != "title"},
    }


def _with_descriptions(name: str, part: dict[str, Any]) -> dict[str, Any]:
    rooms = (model, joints, contacts, attitudes, bodies, flexible, signals)
    cls = next(getattr(room, name) for room in rooms if hasattr(room, name))
    comments = dict(re.findall(r"^    (\w+): .*  # (.*)$", inspect.getsource(cls), re.MULTILINE))
    properties = {
        key: {"description": comments[key], **value} if key in comments else value
        for key, value in part["properties"].items()
    }
    return {"description": inspect.cleandoc(cls.__doc__ or ""), **part, "properties": properties}


def _any_of(schema: Any) -> Any:
    """oneOf as anyOf: four numbers may be read as a quaternion and as a list of numbers, and both are right."""
    if isinstance(schema, dict):
        return {"anyOf" if key == "oneOf" else key: _any_of(value) for key, value in schema.items()}
    return [_any_of(value) for value in schema] if isinstance(schema, list) else schema
