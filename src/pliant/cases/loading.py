"""load(case_or_file, **settings) -> Model."""

from __future__ import annotations

import difflib
import itertools
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.cases.case import Case, all_cases, case_named
from pliant.errors import ModelError
from pliant.files import as_path
from pliant.methods.method import Method
from pliant.model.messages import quoted
from pliant.model.model import Model


def load(case_or_file: str | Path, *, trust: bool = False, **settings: Any) -> Model:
    """The model of a built-in case, of a robot file (URDF, MJCF) or of a sidecar, with settings; or of a model file.

    Files only say what a robot is. With trust=True the Python files that their controllers name are run, too."""
    if not isinstance(trust, bool):
        raise ModelError(f"trust: {quoted(trust)} found; give True or False")
    case_or_file = case_or_file if isinstance(case_or_file, str) else as_path(case_or_file, "case_or_file")
    case = find_case(case_or_file)
    if case is not None:
        chosen = case.resolve(settings)
        model, run = case.build(chosen), case.options(chosen)
        # what settings say about the run (integrator, step, ...) holds in simulate, too
        return replace(model, run={name: _plain(value) for name, value in run.items()}) if run else model
    from pliant.io.robot_file import load_file

    return load_file(as_path(case_or_file, "case_or_file"), settings, trust)


def _plain(value: Any) -> Any:
    """A method as the table that a file has for it."""
    if not isinstance(value, Method):
        return value
    parameters = {each.name: getattr(value, each.name) for each in value.parameters()}
    return {"kind": value.name} | {name: one for name, one in parameters.items() if one is not None}


def load_grid(
    case_or_file: str | Path, *, trust: bool = False, **settings: Any
) -> tuple[list[dict[str, Any]], list[Model]]:
    """(settings, models) of every combination: settings given as lists take each of their values, others stay.

    The last one listed changes fastest."""
    lists = {
        key: list(value)
        if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim)
        else [value]
        for key, value in settings.items()
    }
    each = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    return each, [load(case_or_file, trust=trust, **chosen) for chosen in each]


def find_case(name: str | Path) -> Case | None:
    """The built-in case of this name, or None if it is to be read as a file."""
    case = case_named(str(name))
    if case is not None:
        return case
    if Path(name).suffix or os.path.exists(name):  # False also for names that no file can have
        return None
    cases = all_cases()
    close = difflib.get_close_matches(str(name), list(cases), 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ModelError(
        f"no case and no file {quoted(str(name))}; {hint}cases: {', '.join(cases)}; files end in .toml, .urdf or .xml"
    )
