"""Bending links of the moving robot: shapes times weights in body axes, and what colours them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.model.flexible import Beam
from pliant.model.sections import section_values
from pliant.results.recording import Recording
from pliant.view.arrays import Arrays
from pliant.view.charts.quantities import has_dense
from pliant.view.picture.bent import half_edges
from pliant.view.svg import Array

KEPT = 1e-6  # of the largest deformation: what the shapes leave out
MAX_COLOURED = 1200  # instants times beams whose stress is worked out
LEVELS = 255  # of a colour


def beam_data(
    result: Recording, t: Array, R: Array, p: Array, stations: dict[str, tuple[Array, Array]], arrays: Arrays
) -> list[dict[str, Any]]:
    """Of every beam: its body, sections, deformation (shift and rotation of n sections in body axes) as a few shapes
    with weights that change in time, and the level of stress along it."""
    found = []
    n_beams = len(result.model.beams)
    some = np.unique(np.linspace(0, len(t) - 1, max(2, MAX_COLOURED // max(n_beams, 1))).astype(int))
    for i, link in enumerate(result.model.links):
        if not isinstance(link.body, Beam):
            continue
        beam = link.body
        R_s, p_s = stations[beam.name]
        n = p_s.shape[1]
        x = np.linspace(0.0, beam.length, n)
        shift = np.einsum("tji,tnj->tni", R[:, i], p_s - p[:, i, None])
        shift[..., 0] -= x
        turn = _turns(np.einsum("tji,tnjk->tnik", R[:, i], R_s))
        weights, basis = _few_shapes(np.concatenate([shift / beam.length, turn], axis=2).reshape(len(t), -1))
        data = {
            "body": i,
            "length": beam.length,
            "n": n,
            "half": arrays.add(half_edges(beam, n)),
            "round": bool(section_values(beam.section, np.zeros(1)).is_round),
            "rank": basis.shape[0],
            "basis": arrays.add(basis),
            "weights": arrays.add(weights),
            "colour": _colour(result, beam, t, some, arrays) if has_dense(result) else None,
        }
        found.append(data)
    return found


def _turns(R: Array) -> Array:
    """Rotation vectors of matrices (..., 3, 3)."""
    skew = 0.5 * np.stack(
        [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1
    )
    sine = np.linalg.norm(skew, axis=-1)
    angle = np.arctan2(sine, 0.5 * (np.trace(R, axis1=-2, axis2=-1) - 1))
    return np.asarray(skew * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-12), 1.0)[..., None])


def _few_shapes(values: Array) -> tuple[Array, Array]:
    """weights (times, rank) and basis (rank, columns) whose product is values, to KEPT of the largest entry.

    The instant that is represented worst so far gives the next shape; bending is a few modes, so a few do."""
    left = values / (float(np.max(np.abs(values), initial=0.0)) or 1.0)
    basis: list[Array] = []
    while len(basis) < values.shape[1] and np.max(np.abs(left)) > KEPT:
        worst = left[np.argmax(np.einsum("ij,ij->i", left, left))]
        basis.append(worst / np.linalg.norm(worst))
        left = left - np.outer(left @ basis[-1], basis[-1])
    shapes = np.stack(basis) if basis else np.zeros((1, values.shape[1]))
    return values @ shapes.T, shapes


def _colour(result: Recording, beam: Beam, t: Array, some: Array, arrays: Arrays) -> dict[str, Any] | None:
    """Strain of the outer fibre where the section has one, else the bending moment; levels of the largest."""
    try:
        if beam.has_outer_fibre:
            times = t[some]
            values = result.along(beam.name, "strain", times)[1][..., 4]
        else:
            times, values = t, np.linalg.norm(result.bending_moment(beam.name, t)[1], axis=-1)
    except ModelError:
        return None
    if not np.all(np.isfinite(values)):
        return None
    largest = float(np.max(values, initial=0.0))
    levels = np.round(LEVELS * values / (largest or 1.0))
    kinds = {"strain": ("", 1.0), "stress": ("Pa", beam.material.young)} if beam.has_outer_fibre else {}
    kinds = kinds or {"moment": ("N m", 1.0)}
    return {
        "t": arrays.add(times, "f8"),
        "levels": arrays.add(levels, "u1"),
        "largest": {kind: largest * factor for kind, (_, factor) in kinds.items()},
    }
