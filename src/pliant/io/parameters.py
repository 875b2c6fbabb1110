"""What is filled into the tables of a file before they are checked: its [parameters], and keys that a call or --set
gives."""

from __future__ import annotations

import copy
import dataclasses
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pliant.engine.run_options import RUN_OPTIONS
from pliant.errors import ModelError
from pliant.io.robot_settings import NAMES as ROBOT_SETTINGS
from pliant.methods import PARAMETERS
from pliant.model.messages import closest, listed, short, shown
from pliant.model.model import Model

KEY = "parameters"
REFERENCE = r"^\$[A-Za-z_][A-Za-z0-9_]*$"  # a value that stands for a parameter
TOP_KEYS = tuple(field.name for field in dataclasses.fields(Model))
MAKERS = ("denavit_hartenberg", "segmented_beam")  # tables of a file that make bodies, joints and frames
FILE_KEYS = (*TOP_KEYS, *MAKERS, KEY)  # at the top of a model file
# what --set means by these words: no parameter may be called so
TAKEN = {*TOP_KEYS, *RUN_OPTIONS, *PARAMETERS, *ROBOT_SETTINGS, "robot", "flexible", *MAKERS, KEY}
# of these a missing table is not made: it would have no name
LISTS = ("bodies", "joints", "frames", "loads", "springs", "contacts", "loops", "crossings", "outputs", "controllers")
MAX_COMMAS = 1000  # of a value in text


def settable_keys(data: dict[str, Any]) -> tuple[str, ...]:
    """Words that stand for one value of a model file; its other keys are reached by their path, as joints.elbow.q0."""
    own = data.get(KEY)
    return (*(own if isinstance(own, dict) else ()), *TOP_KEYS)


def filled(path: Path, data: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The tables with the keys given, and with every "$name" replaced by its parameter; messages name the file."""
    rest = {key: value for key, value in data.items() if key != KEY}
    own, used = dict(_checked(path, data)), _references(rest)
    unused = [name for name in own if name not in used]
    if unused:
        _substituted(path, rest, own)  # a misspelt name is the likelier mistake: it has its own message
        raise ModelError(
            f'{path.name}: {KEY}: {listed(unused)} used nowhere; write "${unused[0]}" where the value shall stand, or '
            "leave it out"
        )
    rest = copy.deepcopy(rest) if given else rest
    for key, value in given.items():
        if key in own:
            own[key] = parsed(value)
        else:
            assign(path, rest, key, value, own)
    # most files have none, and some a million values
    return _substituted(path, rest, own) if _references(rest) else rest


def _checked(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    """The table of parameters."""
    own = data.get(KEY, {})
    if not isinstance(own, dict):
        raise ModelError(f"{path.name}: {KEY}: found {shown(own)}; give a table of names and values, headed [{KEY}]")
    for name, value in own.items():
        where = f"{path.name}: {KEY}: '{short(name)}'"
        if not re.match(REFERENCE, f"${name}"):
            raise ModelError(f"{where} is no name; start with a letter or _, then use letters, digits or _")
        if name in TAKEN:
            raise ModelError(f"{where} means something else on the command line (--set {name}=..); choose another name")
        if isinstance(value, dict) or (isinstance(value, str) and value.startswith("$")):
            raise ModelError(f"{where}: found {shown(value)}; give a number, a text or a list")
    return own


def _references(data: Any) -> set[str]:
    """Names of parameters that values stand for."""
    level, found = [data], set[str]()
    while level:
        items = [item for one in level for item in (one.values() if isinstance(one, dict) else one)]
        found |= {item[1:] for item in items if isinstance(item, str) and item.startswith("$")}
        level = [item for item in items if isinstance(item, (dict, list))]
    return found


def _substituted(path: Path, data: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    def replaced(value: Any, place: str) -> Any:
        if isinstance(value, dict):
            return {key: replaced(item, f"{place}.{key}" if place else key) for key, item in value.items()}
        if isinstance(value, list):
            return [replaced(item, f"{place}[{k}]") for k, item in enumerate(value)]
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        name = value[1:]
        if name not in own:
            there = f"[{KEY}] has {listed(own)}" if own else f"the file has no [{KEY}]"
            hint = closest(name, own) or ";"
            if not re.match(REFERENCE, value):
                hint = '; "$name" stands for a whole value, there are no expressions;'
            raise ModelError(f'{path.name}: {place}: no parameter "{short(value)}"{hint} {there}')
        return own[name]

    made: dict[str, Any] = replaced(data, "")
    return made


# --- single keys ------------------------------------------------------------------------------------------------------


def assign(
    path: Path, tables: dict[str, Any], key: str, value: Any, own: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Set one key: "gravity", "bodies.rod.length", "joints.0.q0", "contacts.floor.friction.mu_k". own: parameters."""
    *outer, last = key.split(".")
    if not all((*outer, last)):
        raise ModelError(f"{path.name}: {key}: an empty part; write keys as bodies.rod.length")
    if not outer and key not in TOP_KEYS:
        known = [*own, *TOP_KEYS]
        raise ModelError(
            f"{path.name}: no key or parameter '{short(key)}'{closest(key, known) or ';'} it takes {listed(known, 30)}"
            ", and keys of its tables by their path, as joints.elbow.q0"
        )
    here: Any = tables
    for k, part in enumerate(outer):
        here = _inner(path, here, part, ".".join(outer[: k + 1]))
    if isinstance(here, dict):
        here[last] = parsed(value)
    else:
        here[_place(path, here, last, key)] = parsed(value)


def _inner(path: Path, here: Any, part: str, key: str) -> Any:
    """The table or list under one part of a key; tables that are not there are made."""
    if isinstance(here, dict):
        if part not in here and (key in LISTS or ("." not in key and key not in (*TOP_KEYS, *MAKERS))):
            hint = closest(part, here) or ";"
            raise ModelError(f"{path.name}: {key}: there are none in the file{hint} it has {listed(here)}")
        inner = here.setdefault(part, {})
    else:
        inner = here[_place(path, here, part, key)]
    if not isinstance(inner, (dict, list)):
        raise ModelError(f"{path.name}: {key} is {shown(inner)}, which has no keys; set it as a whole")
    return inner


def _place(path: Path, items: list[Any], part: str, key: str) -> int:
    """Where in a list: by name, or by number from 0."""
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    if part in names:
        return names.index(part)
    if part.isdecimal() and int(part) < len(items):
        return int(part)
    words = [name for name in names if isinstance(name, str)]
    there = f"there are {listed(words)}" if words else f"it has {len(items)} values, counted from 0"
    raise ModelError(f"{path.name}: {key}: no '{short(part)}'{closest(part, words) or ';'} {there}")


def parsed(value: Any) -> Any:
    """A value in text as TOML has it, or as a list with commas (0,0,-1.62), or else the text itself."""
    if not isinstance(value, str):
        return list(value) if isinstance(value, tuple) else value
    for text in (value, f"[{value}]") if 0 < value.count(",") <= MAX_COMMAS else (value,):
        try:
            found = tomllib.loads(f"value = {text}")
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            continue
        if list(found) == ["value"] and isinstance(found["value"], (bool, int, float, str, list, dict)):
            return found["value"]
    return value
