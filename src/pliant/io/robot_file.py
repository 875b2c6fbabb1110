"""Robot files (URDF, MJCF), and sidecars: TOML beside them that says what they cannot say."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from pliant.errors import ModelError
from pliant.io.merging import merged
from pliant.io.parameters import assign, filled, settable_keys
from pliant.io.robot_settings import NAMES, RobotSettings, robot_settings
from pliant.io.toml import check_values, checked_model, model_tables, parse_file, read_text
from pliant.model.flexible_links import FlexibleLink, make_flexible
from pliant.model.messages import listed
from pliant.model.model import Model

# who makes the tables of a model file from the text, by the ending of the file
READERS = {
    ".urdf": ("pliant.io.urdf", "urdf_tables"),
    ".xml": ("pliant.io.mjcf", "mjcf_tables"),
    ".mjcf": ("pliant.io.mjcf", "mjcf_tables"),
}
SUFFIXES = tuple(READERS)
BETTER_WORDS = {
    'inertia_check = "symmetric" takes it': "the setting inertia = keep takes them all",
    "give mass, an armature, or make it fixed": "give it an inertial or make its joint fixed in the robot file, or "
    "give mass to the body or armature to the joint in a sidecar",
}
# what describes the robot itself; all other keys may refer to links that have become flexible
ROBOT_KEYS = ("name", "base", "gravity", "duration", "run", "bodies", "joints", "frames", "loops", "keep")


def load_file(path: Path, given: dict[str, Any], trust: bool = False) -> Model:
    """The model in a robot file, in a sidecar or in a model file. given: settings of how a robot file is read, and
    parameters and keys of the file's tables ("joints.elbow.q0"; of a robot file those of a model file).

    With trust, the controllers that a sidecar or model file names are run."""
    if path.suffix.lower() in SUFFIXES:
        changes = {key: value for key, value in given.items() if "." in key}
        tables = _robot_tables(path, robot_settings({key: given[key] for key in given if key not in changes}))
        for key, value in changes.items():
            assign(path, tables, key, value)
        return _robot_model(path, tables)
    return tables_model(path, _parsed(path), given, trust)


def _parsed(path: Path) -> dict[str, Any]:
    if path.suffix.lower() == ".xacro" and path.is_file():
        from pliant.io.urdf_file import EXPAND

        raise ModelError(f"{path}: xacro files hold macros; {EXPAND}")
    if path.suffix.lower() not in ("", ".toml") and path.is_file():
        raise ModelError(
            f"{path}: a file that ends in {path.suffix} is no model; model files and sidecars end in .toml, "
            f"robot files in {listed(SUFFIXES)}"
        )
    return parse_file(path)


def tables_model(path: Path, data: dict[str, Any], given: dict[str, Any], trust: bool = False) -> Model:
    """The model that the tables of a sidecar or a model file describe."""
    check_values(path, data)
    if "robot" in data:
        return _sidecar_model(path, data, given, trust)
    return checked_model(path, filled(path, data, given), trust)


def file_keys(path: Path) -> tuple[str, ...]:
    """Words that a call or --set may give for a file; other keys are reached by their path."""
    if path.suffix.lower() in SUFFIXES:
        return NAMES
    data = _parsed(path)
    return (*NAMES, *settable_keys(data)) if "robot" in data else settable_keys(data)


def _robot_model(path: Path, tables: dict[str, Any]) -> Model:
    """As any model; what robot files often get wrong is reported in their words."""
    try:
        return checked_model(path, tables)
    except ModelError as error:
        text = str(error)
        for words, better in BETTER_WORDS.items():
            text = text.replace(words, better)
        raise ModelError(text) from None


def _robot_tables(path: Path, settings: RobotSettings) -> dict[str, Any]:
    module, function = READERS[path.suffix.lower()]
    tables: dict[str, Any] = getattr(importlib.import_module(module), function)(path, read_text(path), settings)
    return tables


# --- sidecars -------------------------------------------------------------------------------------------------------


def _sidecar_model(path: Path, data: dict[str, Any], given: dict[str, Any], trust: bool) -> Model:
    """The robot, changed by the tables of the same names, then its flexible links, then what acts and is recorded."""
    own = {key: value for key, value in given.items() if key not in NAMES and _is_in_sidecar(data, key)}
    data = filled(path, data, own)
    changes = {key: value for key, value in given.items() if key not in NAMES and key not in own}
    given = {key: value for key, value in given.items() if key in NAMES}
    file, settings = _robot_key(path, data.pop("robot"))
    flexible = _flexible_links(path, data.pop("flexible", []))
    if "base" in data:
        base = {"kind": data["base"]} if isinstance(data["base"], str) else data["base"]
        data["base"] = base | {"kind": given.get("base", base.get("kind", "fixed"))} if isinstance(base, dict) else base
        settings["base"] = data["base"]["kind"] if isinstance(base, dict) else base
    if "gravity" in given:
        data.pop("gravity", None)
    try:
        tables = _robot_tables(path.parent / file, robot_settings(settings | given))
    except ModelError as error:
        raise ModelError(f"{path.name}: robot: {error}") from None
    first = {key: data.pop(key) for key in ROBOT_KEYS if key in data}
    tables = merged(tables, first)
    for key, value in changes.items():
        assign(path, tables, key, value)
    model = _robot_model(path, tables)
    for link in flexible:
        try:
            model = make_flexible(model, link)
        except ModelError as error:
            raise ModelError(f"{path.name}: flexible: {error}") from None
    return checked_model(path, merged(model_tables(model), data), trust) if data else model


def _is_in_sidecar(data: dict[str, Any], key: str) -> bool:
    """Whether a key is of a table that the sidecar itself has, not of the robot that it changes."""
    first, *rest = key.split(".")
    names = [item.get("name", item.get("link")) for item in data.get(first, ()) if isinstance(item, dict)]
    return rest == [] or first not in ROBOT_KEYS or rest[0] in names


def _robot_key(path: Path, value: Any) -> tuple[str, dict[str, Any]]:
    """`robot`: a file name, or a table of it and settings."""
    table = {"file": value} if isinstance(value, str) else value
    if not isinstance(table, dict) or not isinstance(table.get("file"), str):
        raise ModelError(f'{path.name}: robot: give the robot file, as in robot = "arm.urdf", or a table with `file`')
    settings = {key: item for key, item in table.items() if key != "file"}
    unknown = [key for key in settings if key not in NAMES]
    if unknown:
        raise ModelError(f"{path.name}: robot: unknown key '{unknown[0]}'; allowed: file, {listed(NAMES)}")
    if Path(table["file"]).suffix.lower() not in SUFFIXES:
        raise ModelError(
            f"{path.name}: robot: file '{table['file']}' found; give a file that ends in {listed(SUFFIXES)}"
        )
    return table["file"], settings


def _flexible_links(path: Path, tables: Any) -> list[FlexibleLink]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ModelError(f"{path.name}: flexible: give a list of tables, headed [[flexible]]")
    made = []
    for index, table in enumerate(tables):
        try:
            made.append(FlexibleLink(**table))
        except ModelError as error:
            lines = (f"{path.name}: flexible[{index}]: {line}" for line in str(error).splitlines())
            raise ModelError("\n".join(lines)) from None
    return made
