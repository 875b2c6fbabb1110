"""Flexible bodies as rows: constant tables of every beam, and the sections that joints and frames sit on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.beams.families import BeamShapes, beam_shapes
from pliant.beams.integrals import BodyTables, body_tables, point_values, values_at
from pliant.model.flexible import Beam
from pliant.model.tree import Link
from pliant.system.tables import FLEX, POINT, rows

Array = NDArray[np.float64]


class FlexibleRows:
    """FLEX and POINT rows of all beams with modes, and the pool of numbers they point into."""

    def __init__(self, links: tuple[Link, ...]) -> None:
        self._pool: list[Array] = []
        self._size = 0  # of the pool
        self._scratch = 0  # entries of work.flex given out
        self._flexes: list[dict[str, float]] = []
        self._points: set[tuple[int, float]] = set()  # link and place of every section asked for
        self.flex_of: dict[int, int] = {}  # link -> row
        self.tables: dict[int, BodyTables] = {}  # link -> tables
        self._beams: dict[int, tuple[Beam, BeamShapes]] = {}
        for i, link in enumerate(links):
            if isinstance(link.body, Beam) and link.body.n_modes:
                self._add_beam(i, link.body)

    def _store(self, values: Any) -> int:
        """Put numbers into the pool; where they begin."""
        flat = np.asarray(values, np.float64).ravel()
        self._pool.append(flat)
        self._size += len(flat)
        return self._size - len(flat)

    def _reserve(self, count: int) -> int:
        """Entries of work.flex; where they begin."""
        self._scratch += count
        return self._scratch - count

    def _add_beam(self, i: int, beam: Beam) -> None:
        t = body_tables(beam)
        n_y, n_z, n_x, _ = t.families
        m, M, n_r = t.n_modes, len(t.axis), len(t.Q)
        n_b = n_y + n_z
        row: dict[str, float] = {
            "body": i,
            "length": beam.length,
            "m": m,
            "n_y": n_y,
            "n_b": n_b,
            "n_3": n_b + n_x,
            "n_r": n_r,
            "M": M,
            "n_k": len(t.stations.slope),
            "is_stiffened": t.is_stiffened,
        }
        constants = {"C1": t.C1, "X1": t.X1, "P": t.P, "Q": t.Q, "Jr1": t.Jr1.T, "Jr2": t.Jr2, "K": t.K, "Dm": t.D}
        constants |= {"slope": t.stations.slope, "bend": t.stations.bend, "share": t.stations.share}
        constants |= {"Hm": t.Hm, "H1": t.H1}
        row |= {name: self._store(value) for name, value in constants.items()}
        sizes = {"d": m, "e": m, "edot": m, "D": M, "Dd": M, "Ddd": M, "U": n_r * n_b, "b": n_r, "a": 3 * M, "F": M}
        sizes |= {"rd": 6 * m, "dd": m * m, "pd": m, "p": 3 * M, "G": 12 * m, "stiffening": n_b, "Y": 6 * m, "y": m}
        row |= {name: self._reserve(size) for name, size in sizes.items()}
        self.flex_of[i] = len(self._flexes)
        self.tables[i] = t
        self._beams[i] = (beam, beam_shapes(beam))
        self._flexes.append(row)

    def section(self, i: int, x: float) -> tuple[int, float]:
        """Key of the section of link i at material coordinate x; rows are known once all are asked for."""
        beam, _ = self._beams[i]
        key = i, min(max(x, 0.0), beam.length)
        self._points.add(key)
        return key

    def tilt(self, i: int, axis: Array) -> int:
        """In the pool: rotation of the first section of link i about an axis, per mode; -1 if there is none."""
        if i not in self._beams:
            return -1
        rotation = axis @ point_values(*self._beams[i], 0.0).theta
        return self._store(rotation) if np.any(np.abs(rotation) > 1e-12) else -1

    def finish(self) -> tuple[Any, Any, Array, dict[tuple[int, float], int]]:
        """FLEX rows, POINT rows, the pool, and the row of every section."""
        keys = sorted(self._points)
        row_of = {key: k for k, key in enumerate(keys)}
        flexes, points = rows(len(self._flexes), FLEX), rows(len(keys), POINT)
        for flex, content in zip(flexes, self._flexes, strict=True):
            own = [row_of[key] for key in keys if key[0] == content["body"]]
            content |= {"first_point": min(own, default=0), "end_point": max(own, default=-1) + 1}
            for name, value in content.items():
                setattr(flex, name, value)
        for i, (beam, shapes) in self._beams.items():
            own_keys = [key for key in keys if key[0] == i]
            values = values_at(beam, shapes, np.array([x for _, x in own_keys]))
            for key, here in zip(own_keys, values, strict=True):
                point = points[row_of[key]]
                point.flex, point.x = self.flex_of[i], here.position[0]
                point.phi, point.H = self._store(here.phi), self._store(here.H)
                point.share = self._store(here.share)
                point.theta = self._store(here.theta.sum(axis=0))  # each mode rotates about one axis
                point.Lambda = self._reserve(6 * beam.n_modes)
        return flexes, points, np.concatenate([np.zeros(0), *self._pool]), row_of
