"""What a certificate is about where its user names no figures: the end of the run, energies, contacts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from pliant.model.columns import coordinate_columns, output_columns
from pliant.result import Result
from pliant.results.contact_records import CONTACT_UNITS
from pliant.results.figures import FigureRequest

MAX_COLUMNS = 30  # of coordinates and of outputs
MAX_CONTACTS = 12
OF_CONTACTS = ("t_start", "peak_normal", "impulse")
MODAL = ("deflection", "twist")


def usual_figures(plain: Result) -> tuple[FigureRequest, ...]:
    """Coordinates (without those of shapes) and outputs at the end, energies there, every contact."""
    model = plain.model
    coordinates = [column for column in coordinate_columns(model) if column.kind not in MODAL]
    outputs = [column for output in model.outputs for column in output_columns(model, output)]
    columns = [*coordinates[:MAX_COLUMNS], *outputs[:MAX_COLUMNS]]
    found = {column.name: FigureRequest(column.name, column.name, unit=column.unit) for column in columns}
    for name, values in plain.energy.items():
        if values.any():
            found.setdefault(name, FigureRequest(name, name, unit="J"))
    return (*found.values(), *contact_figures(plain))


def contact_figures(plain: Result) -> tuple[FigureRequest, ...]:
    """How many contacts, and when, how hard and with which impulse each of the first ones is."""
    if len(plain.contacts) == 0 and not plain.model.contacts:
        return ()
    found = [FigureRequest("contacts", how="contacts")]
    counts: Counter[str] = Counter()
    for number, row in enumerate(plain.contacts[:MAX_CONTACTS]):
        place = f"{row['contact']}.{row['point']}"
        rank, counts[place] = counts[place], counts[place] + 1
        for field in OF_CONTACTS:
            found.append(
                FigureRequest(
                    f"contact {number + 1} ({row['point']}) {field}",
                    how="function",
                    time=float(row["t_start"]),
                    function=_of_contact(str(row["contact"]), str(row["point"]), rank, field),
                    unit=CONTACT_UNITS[field],
                )
            )
    return tuple(found)


def _of_contact(contact: str, point: str, rank: int, field: str) -> Callable[[Any], float]:
    """A field of the contact of this rank of a point; nan in runs that have fewer."""

    def value(result: Any) -> float:
        rows = result.contacts
        own = rows[(rows["contact"] == contact) & (rows["point"] == point)]
        return float(own[rank][field]) if rank < len(own) else math.nan

    return value


def count_changes(plain: Result, others: dict[str, Result]) -> tuple[str, ...]:
    """Where runs have other numbers of contacts and events than the plain one, in words."""
    found = []
    for what in ("contacts", "events"):
        own = len(getattr(plain, what))
        differing = {label: len(getattr(run, what)) for label, run in others.items() if len(getattr(run, what)) != own}
        if differing:
            each = ", ".join(f"{count} with {label}" for label, count in differing.items())
            found.append(f"the number of {what} is not certain: {own} in this run, {each}")
    return tuple(found)
