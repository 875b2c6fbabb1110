"""What a run was made with, so that it can be cited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pliant.methods import Methods, find_method
from pliant.methods.citations import CITATIONS
from pliant.model.laws import Law
from pliant.model.model import Model


def cited(model: Model, methods: Methods | None, integrators: Iterable[str]) -> list[dict[str, Any]]:
    """A row per method and law: family, name, parameters, reference, citation. integrators: those that took steps."""
    rows = [*_chosen(methods, integrators), *_laws(model)]
    return [{**row, "citation": CITATIONS[row["reference"]]} for row in rows]


def _chosen(methods: Methods | None, integrators: Iterable[str]) -> Iterator[dict[str, Any]]:
    if methods is None:
        return
    yield {"family": "formulation", **methods.formulation.row}
    for name in integrators:
        is_own = methods.integrator.first.name == name
        scheme = methods.integrator.first if is_own else find_method("integrator", name)
        yield {"family": "integrator", **scheme.row}
    if methods.closure is not None:
        yield {"family": "closure", **methods.closure.row}


def _laws(model: Model) -> Iterator[dict[str, Any]]:
    """Each law with its parameters; equal ones once."""
    inner = [friction for link in model.links for friction in link.joint.each("friction")]
    laws: list[Law] = [contact.normal for contact in model.contacts]
    laws += [contact.friction for contact in model.contacts if contact.friction is not None]
    laws += [friction for friction in inner if isinstance(friction, Law)]
    for law in dict.fromkeys(laws):
        yield {"family": law.family, **law.row}
