"""Ten thousand broken files and settings: each is read or refused with a message; nothing else, and nothing hangs. Most
of them are for .ci/full.

All is seeded, so a failure can be repeated: its number is in the message. Files with controllers are fuzzed as tables,
whose function is text that is not looked up here: what a model file names would be imported, as documented."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pliant
from broken_files import broken_tables, broken_text
from paths import EXAMPLES, ROBOTS
from pliant.cases.case import all_cases
from pliant.cases.chosen_run import RUN_SETTINGS
from pliant.command.cli import parse_assignments
from pliant.errors import ModelError
from pliant.io.robot_file import tables_model
from pliant.io.robot_settings import NAMES, RobotSettings, robot_settings
from pliant.io.toml import _lines, _parse, checked_model, model_tables, schema
from pliant.io.urdf import urdf_tables
from pliant.model.model import Model
from pliant.simulation.options import check_options
from pliant.system.pack import pack
from rich_model import rich

PATH = Path("broken.toml")
BATCH = 500


def plain_tables() -> list[dict[str, Any]]:
    """Tables of models with one of everything, of an arm and of a robot with a beam; without controllers."""
    found = [
        model_tables(rich()),
        tomllib.loads((EXAMPLES / "arm.toml").read_text()),
        model_tables(pliant.load(EXAMPLES / "lifter.toml")),
    ]
    for tables in found:
        tables.pop("controllers", None)
        for body in tables["bodies"]:
            body.pop("visual", None)
    return found


TABLES = plain_tables()
TEXTS = ["\n".join(_lines(tables)) for tables in TABLES]
URDFS = [(EXAMPLES / "lifter.urdf").read_text(), (ROBOTS / "every_joint.urdf").read_text()]
SIDECAR = tomllib.loads((EXAMPLES / "lifter.toml").read_text())


def from_text(rng: random.Random) -> Model:
    return checked_model(PATH, _parse(PATH, broken_text(rng.choice(TEXTS), rng)))


def from_tables(rng: random.Random) -> Model:
    return checked_model(PATH, broken_tables(rng.choice(TABLES), rng))


def from_urdf(rng: random.Random) -> Model:
    text = broken_text(rng.choice(URDFS), rng)
    how = RobotSettings(limits=rng.choice(("record", "end", "stop")), inertia=rng.choice(("check", "keep")))
    return checked_model(Path("broken.urdf"), urdf_tables(ROBOTS / "broken.urdf", text, how))


def from_sidecar(rng: random.Random) -> Model:
    tables = broken_tables(SIDECAR, rng)
    tables.setdefault("robot", "lifter.urdf")
    return tables_model(EXAMPLES / "broken.toml", tables, {})


def outcome(make: Callable[[], Any], what: str) -> Any:
    """What was made, or None where it was refused with words; anything else fails with the number of the input."""
    try:
        return make()
    except ModelError as error:
        if str(error).strip():
            return None
        raise AssertionError(f"{what}: no words") from error
    except Exception as error:
        raise AssertionError(f"{what[:300]}: {type(error).__name__}: {error}") from error


# 9500 broken files: 4000 texts, 3000 tables, 2000 URDFs, 500 sidecars
SOURCES = {from_text: 4000, from_tables: 3000, from_urdf: 2000, from_sidecar: 500}
BATCHES = [
    pytest.param(make, first, id=f"{make.__name__}-{first}", marks=[pytest.mark.long] if first >= 2 * BATCH else [])
    for make, count in SOURCES.items()
    for first in range(0, count, BATCH)
]


@pytest.mark.parametrize(("make", "first"), BATCHES)
def test_a_broken_file_loads_or_is_refused_with_a_message(make: Callable[[random.Random], Model], first: int) -> None:
    loaded = [
        outcome(lambda seed=seed: make(random.Random(seed)), f"{make.__name__} {seed}")
        for seed in range(first, first + BATCH)
    ]
    models = [model for model in loaded if model is not None]
    # some changes do no harm, most do
    assert 0.01 * BATCH < len(models) < 0.7 * BATCH
    for model in models[:10]:
        pack(model)


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 100, b"\xff\xfe<\0r\0", bytes(range(256)), b"[" * 100_000, b"a=" + b"[" * 100_000, b"<" * 100_000],
)
@pytest.mark.parametrize("suffix", ["toml", "urdf", "xml"])
def test_garbage_is_refused_with_a_message(suffix: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"garbage.{suffix}"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="garbage"):
        pliant.load(path)


def test_deep_nesting_is_refused_with_a_message(tmp_path: Path) -> None:
    for depth in (60, 900, 50_000):
        (tmp_path / "deep.urdf").write_text("<robot>" + "<link name='a'>" * depth + "</link>" * depth + "</robot>")
        assert pliant.load(tmp_path / "deep.urdf").bodies[0].name == "a"  # what is inside a link is not asked for
        (tmp_path / "deep.toml").write_text(f"name = {'[' * depth}{']' * depth}")
        with pytest.raises(ModelError, match="nested"):
            pliant.load(tmp_path / "deep.toml")


def test_thousands_of_bodies_and_mistakes_take_no_more_than_their_number() -> None:
    """In reverse order, all hanging on each other; or all on one that is not there. Quadratic ways take minutes."""
    n = 3000
    joints = [
        {"name": f"j{i}", "kind": "revolute", "child": f"b{i}", "parent": f"b{i - 1}" if i else "world"}
        for i in range(n)
    ]
    bodies = [{"name": f"b{i}", "mass": 1.0, "inertia": [1, 1, 1]} for i in reversed(range(n))]
    tables = {"name": "long", "bodies": bodies, "joints": joints}
    assert [link.body.name for link in checked_model(PATH, tables).links] == [f"b{i}" for i in range(n)]
    lost = [joint | {"parent": "nobody"} for joint in joints]
    with pytest.raises(ModelError, match="nobody") as caught:
        checked_model(PATH, tables | {"joints": lost})
    assert len(str(caught.value).splitlines()) <= 21
    with pytest.raises(ModelError, match="and 2980 more mistakes"):
        checked_model(PATH, tables | {"bodies": [body | {"mass": -1} for body in bodies]})


# --- settings -------------------------------------------------------------------------------------------------------

TEXT_VALUES = (
    "",
    " ",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "-1",
    "0",
    "1e308",
    "1e-320",
    "true",
    "x",
    "1,2",
    "0,0,nan",
    "[]",
)
OTHER_VALUES = (None, True, 3, 10**400, float("nan"), float("inf"), [], [1, 2, 3], {}, (), object(), b"x", "9" * 5000)


def test_broken_settings_of_cases_and_robots_build_or_are_refused() -> None:
    """1000 of them, as text from --set and as values from Python. Only the numbers of bodies are kept small."""
    cases = [*all_cases().values()]
    for seed in range(1000):
        rng = random.Random(seed)
        case = rng.choice(cases)
        key = rng.choice([*case.settings, "nothing", ""])
        value = rng.choice((*TEXT_VALUES, *OTHER_VALUES, "\u00e9", f"{rng.gauss(0, 100)}"))
        values = outcome(lambda: case.resolve({key: value}), f"{case.name} {key}={value!r}")  # noqa: B023
        is_count = isinstance(getattr(case.settings.get(key), "default", None), int)
        if values is not None and not is_count:
            outcome(lambda: case.build(values), f"{case.name} {key}={value!r}")  # noqa: B023


def test_broken_options_and_assignments_are_refused() -> None:
    model = pliant.load("two-link-arm")
    for key, row in RUN_SETTINGS.items():
        for value in (*TEXT_VALUES, *OTHER_VALUES):
            parsed = outcome(lambda: row.parse(key, value), f"{key}={value!r}")  # noqa: B023
            if parsed is not None:
                outcome(lambda: check_options(model, **{key: parsed}), f"{key}={value!r}")  # noqa: B023
    for key in NAMES:
        for value in (*TEXT_VALUES, *OTHER_VALUES):
            outcome(lambda: robot_settings({key: value}), f"{key}={value!r}")  # noqa: B023
    for text in ("", "=", "=1", "a", "a=1=2", "\0", "a =", " = "):
        outcome(lambda: parse_assignments([text]), text)  # noqa: B023


# --- made by hypothesis ---------------------------------------------------------------------------------------------

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.integers(),
    st.floats(),
    st.floats(-10, 10),
    st.text(max_size=8),
    st.sampled_from(("world", "b0", "b1", "j0", "fixed", "revolute", "rod", "x", "30 deg")),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
PARTS = schema()["$defs"]


def tables_of(part: str, **known: Any) -> Any:
    """Tables with the keys of a part of a model file, and values of any kind."""
    names = st.sampled_from(sorted(PARTS[part]["properties"]))
    return st.builds(
        lambda some, sure: some | sure, st.dictionaries(names, ANYTHING, max_size=3), st.fixed_dictionaries(known)
    )


NAMED = st.sampled_from([f"b{i}" for i in range(4)])
MODELS = st.fixed_dictionaries(
    {
        "name": st.text(max_size=5),
        "bodies": st.lists(
            tables_of(
                "Body", name=NAMED, mass=st.floats(0, 10), inertia=st.lists(st.floats(0, 3), min_size=3, max_size=3)
            ),
            max_size=4,
        ),
        "joints": st.lists(
            tables_of(
                "Joint",
                name=st.sampled_from([f"j{i}" for i in range(4)]),
                kind=st.sampled_from(PARTS["Joint"]["properties"]["kind"]["enum"]),
                child=NAMED,
                parent=NAMED | st.just("world"),
            ),
            max_size=4,
        ),
    },
    optional={
        "gravity": st.lists(st.floats(), max_size=4) | ANYTHING,
        "base": st.sampled_from(("fixed", "planar", "floating")) | ANYTHING,
        "frames": st.lists(tables_of("Frame", body=NAMED), max_size=2) | ANYTHING,
        "loads": st.lists(tables_of("Load", frame=NAMED), max_size=2) | ANYTHING,
        "contacts": st.lists(tables_of("Contact"), max_size=2) | ANYTHING,
        "crossings": st.lists(tables_of("Crossing"), max_size=2) | ANYTHING,
        "outputs": st.lists(tables_of("Output"), max_size=2) | ANYTHING,
        "duration": ANYTHING,
        "nothing": ANYTHING,
    },
)
REPEATABLE = settings(
    max_examples=300, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)


@REPEATABLE
@given(MODELS)
def test_tables_of_any_content_load_or_are_refused(tables: dict[str, Any]) -> None:
    model = outcome(lambda: checked_model(PATH, tables), repr(tables))
    if model is not None:
        pack(model)


TAGS = ("link", "joint", "inertial", "mass", "inertia", "origin", "axis", "limit", "dynamics", "mimic", "visual", "box")


@st.composite
def urdf_elements(draw: Any, depth: int = 2) -> str:
    tag = draw(st.sampled_from((*TAGS, "parent", "child", "geometry", "mesh")))
    keys = draw(
        st.lists(
            st.sampled_from(("name", "type", "link", "xyz", "rpy", "value", "ixx", "size")), unique=True, max_size=3
        )
    )
    words = st.sampled_from(("a", "b", "0 0 1", "1", "nan", "1e40", "revolute", "fixed", "planar", "")) | st.text(
        max_size=4
    )
    values = [re.sub(r"[<&\"]", "", draw(words)) for _ in keys]
    attributes = "".join(f' {key}="{value}"' for key, value in zip(keys, values, strict=True))
    inner = "".join(draw(st.lists(urdf_elements(depth=depth - 1), max_size=3))) if depth else ""
    return f"<{tag}{attributes}>{inner}</{tag}>"


@REPEATABLE
@given(st.lists(urdf_elements(), max_size=4))
def test_elements_of_any_content_load_or_are_refused(elements: list[str]) -> None:
    text = f"<robot>{''.join(elements)}</robot>"
    tables = outcome(lambda: urdf_tables(ROBOTS / "made.urdf", text, RobotSettings()), text)
    if tables is not None:
        outcome(lambda: checked_model(PATH, tables), text)
