"""A run as the command line names it: a case or a file, and KEY=VALUE sorted into settings of the model, options of the
run and its start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.cases.case import Case, Setting, unknown_key
from pliant.cases.loading import find_case, load
from pliant.engine.arguments import as_number
from pliant.engine.run_options import OFF, RUN_OPTIONS
from pliant.errors import ModelError
from pliant.io.parameters import FILE_KEYS
from pliant.methods import PARAMETERS
from pliant.model.messages import closest, listed, quoted
from pliant.model.model import Model
from pliant.simulation.options import check_options

Array = NDArray[np.float64]
# what --set takes of a run: its options, and the parameters of its methods
RUN_SETTINGS = {
    **{
        name: Setting(row.usual, row.words, row.unit, row.choices, off=OFF if row.can_be_off else "")
        for name, row in RUN_OPTIONS.items()
        if row.is_for_files
    },
    **{
        key: Setting(row.default, f"{row.words} ({method.name})", row.unit, row.choices)
        for key, (method, row) in PARAMETERS.items()
    },
}
START = ".start"  # "elbow.start", "elbow.rate.start": where the run begins, as the table of Runs calls it


@dataclass(frozen=True, eq=False)
class ChosenRun:
    """Everything checked, nothing compiled yet (but by cases that need kernels to build their model)."""

    name: str
    case: Case | None
    settings: dict[str, Any]  # of the case, or the keys of the file that were given
    options: dict[str, Any]  # of the run
    model: Model
    starts: dict[str, Array] = field(default_factory=dict)  # q0 and v0, where they were given
    notes: tuple[str, ...] = ()  # keys given that do nothing


def choose_run(
    case_or_file: str | Path,
    assignments: Mapping[str, Any],
    trust: bool = False,
    compile_first: Callable[[], None] = lambda: None,
) -> ChosenRun:
    """Find the case or file, sort the assignments, build the model. compile_first: called where the case needs kernels
    to build its model."""
    case = find_case(case_or_file)
    # a case may have a setting of the same name as an option; a file's options are those of runs
    own = case.settings if case else _file_settings(Path(case_or_file)) if assignments else ()
    begun = {key: value for key, value in assignments.items() if is_start(key)}
    for key in assignments:
        if key not in own and key not in RUN_SETTINGS and key not in begun and (case or "." not in key):
            raise ModelError(unknown_key(key, [*own, *RUN_SETTINGS], f"--set {key}"))
    given = {
        key: value for key, value in assignments.items() if key not in begun and (key in own or key not in RUN_SETTINGS)
    }
    settings = case.resolve(given) if case else given
    others = {key: value for key, value in assignments.items() if key not in given and key not in begun}
    options = {key: RUN_SETTINGS[key].parse(key, value) for key, value in others.items()}
    usual = dict(case.usual_options(settings)) if case else {}
    if "accuracy" in options:  # chooses tolerances itself
        usual = {key: value for key, value in usual.items() if key not in ("rtol", "atol")}
    options = {**usual, **options}
    if case and case.needs_kernels(settings):
        compile_first()
    model = case.build(settings) if case else load(case_or_file, trust=trust, **given)
    check_options(model, **options)
    name = case.name if case else Path(case_or_file).stem
    notes = _notes(case, settings, options, assignments, given)
    return ChosenRun(name, case, settings, options, model, chosen_start(model, begun), notes)


def is_start(key: str) -> bool:
    """Whether a key is where a run begins, and no path in a model file, as joints.drive.motion.start."""
    return key.endswith(START) and key.partition(".")[0] not in FILE_KEYS


def chosen_start(model: Model, begun: Mapping[str, Any]) -> dict[str, Array]:
    """q0 and v0 as simulate takes them: the model's own, with "elbow.start" and "elbow.rate.start" in their places."""
    return placed_start(start_places(model), begun, {}, model) if begun else {}


def start_places(model: Model) -> dict[str, tuple[str, int]]:
    """Keys of starts: q0 or v0, and where in it."""
    places = {f"{name}{START}": ("q0", k) for k, name in enumerate(model.coordinates)}
    return places | {f"{name}.rate{START}": ("v0", k) for k, name in enumerate(model.velocities)}


def placed_start(
    places: Mapping[str, tuple[str, int]], begun: Mapping[str, Any], before: Mapping[str, Array], model: Model
) -> dict[str, Array]:
    """The starts before, or the model's own, with those given in their places."""
    found = {which: row.copy() for which, row in before.items()}
    for key, value in begun.items():
        if key not in places:
            hint = closest(key, places) or ";"
            raise ModelError(f"--set {quoted(key)[1:-1]}: no such start{hint} there are {listed(places, 30)}")
        which, k = places[key]
        if which not in found:
            found[which] = np.array(getattr(model, which))
        found[which][k] = as_number(_number(value), key)
    return found


def _number(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _notes(
    case: Case | None,
    settings: dict[str, Any],
    options: dict[str, Any],
    assignments: Mapping[str, Any],
    given: Mapping[str, Any],
) -> tuple[str, ...]:
    """What was given and does nothing, or takes the place of what the settings of a case choose."""
    if case is None:
        return ()
    unused, chosen = case.unused(settings), case.options(settings)
    return (
        *(f"{key} has no effect with {unused[key]}" for key in assignments if key in unused),
        *(
            f"{key} = {options[key]} is used in place of {chosen[key]}, which the settings of the case choose"
            for key in assignments
            if key not in given and key in chosen and options[key] != chosen[key]
        ),
    )


def _file_settings(path: Path) -> list[str]:
    from pliant.io.robot_file import file_keys

    return [key for key in file_keys(path) if key not in RUN_SETTINGS]
