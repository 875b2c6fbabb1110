"""A result as a MATLAB file (.mat, version 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.files import whole_file
from pliant.model.columns import command_columns, coordinate_columns, output_columns, velocity_columns

if TYPE_CHECKING:
    from pliant.results.recording import Recording

LONGEST = 63  # characters of a name


def write_mat(result: Recording, path: Path) -> None:
    """t, q, v with names and units; energy, outputs, contacts, events, audit and stats as structs."""
    from scipy.io import savemat

    with whole_file(path) as temporary, temporary.open("wb") as file:
        savemat(file, _variables(result), long_field_names=True, oned_as="column")


def _variables(result: Recording) -> dict[str, Any]:
    model = result.model
    q, v, commands = coordinate_columns(model), velocity_columns(model), command_columns(model)
    contacts = {name: _plain(result.contacts[name]) for name in result.contacts.dtype.names}
    outputs = {
        output.name: {
            "values": result.outputs[output.name],
            "parts": _cells(column.part for column in output_columns(model, output)),
            "units": _cells(column.unit for column in output_columns(model, output)),
        }
        for output in model.outputs
        if output.name in result.outputs
    }
    return {
        "model": model.name,
        "status": result.status,
        "reason": result.reason,
        "t": result.t,
        "q": result.q,
        "q_names": _cells(column.name for column in q),
        "q_units": _cells(column.unit for column in q),
        "v": result.v,
        "v_names": _cells(column.name for column in v),
        "v_units": _cells(column.unit for column in v),
        "commands": result.inputs,
        "command_names": _cells(column.name for column in commands),
        "command_units": _cells(column.unit for column in commands),
        "energy": legal(result.energy),
        "outputs": legal(outputs),
        "contacts": legal(contacts),
        "events": {
            "name": _cells(event.name for event in result.events),
            "t": np.array([event.t for event in result.events]),
            "direction": _cells(event.direction for event in result.events),
        },
        "audit": legal(result.audit),
        "stats": legal(result.stats),
    }


def legal(named: dict[str, Any]) -> dict[str, Any]:
    """Names as MATLAB allows them: letters, digits and underscores, a letter first, all different."""
    found: dict[str, Any] = {}
    for name, value in named.items():
        word = re.sub(r"[^A-Za-z0-9_]", "_", name)
        word = (word if word[:1].isalpha() else f"x{word}")[:LONGEST]
        number = 2
        while word in found:
            word = f"{word[: LONGEST - 4]}_{number}"
            number += 1
        found[word] = value
    return found


def _plain(values: Any) -> Any:
    return values if values.dtype.kind == "f" else _cells(values.tolist())


def _cells(words: Iterable[str]) -> Any:
    """A cell array of text, as a column."""
    return np.array([*words, None], dtype=object)[:-1, None]
