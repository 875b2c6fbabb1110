"""Which instants of a run the page shows: every event, and an even choice of the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.results.recording import Recording
from pliant.view.charts.quantities import dense_range, has_dense
from pliant.view.svg import Array

MAX_FRAMES = 2000
MIN_FRAMES = 20


@dataclass(frozen=True)
class FilmTimes:
    """Instants shown, and how many there would have been."""

    t: Array
    rows: int  # accepted steps of the run
    n_events: int  # instants with events
    n_kept: int  # of them shown


def film_times(result: Recording, most: int) -> FilmTimes:
    """At most `most` instants: events, then half even in time and half accepted steps, dense where much happens."""
    events = event_times(result)
    kept = _evenly(events, most // 2)
    rows = result.t[np.isfinite(result.q).all(axis=1)] if len(result.t) else result.t
    if not has_dense(result):
        chosen = _evenly(rows, most - len(kept))
        near = rows[np.searchsorted(rows, kept).clip(0, len(rows) - 1)] if len(rows) else kept
        return FilmTimes(np.union1d(chosen, near), len(result.t), len(events), len(kept))
    first, last = dense_range(result)
    rest = most - len(kept)
    t = np.concatenate([kept, np.linspace(first, last, (rest + 1) // 2), _evenly(rows, rest // 2)])
    t = np.unique(np.clip(t, first, last))
    t = t[np.isfinite(result.at(t)[0]).all(axis=1)]
    return FilmTimes(t, len(result.t), len(events), len(kept))


def event_times(result: Recording) -> Array:
    """When something happened: limits, crossings, begin and end of contacts, their middles."""
    times = [event.t for event in result.events]
    log = result.contacts
    if len(log):
        middles = 0.5 * (log["t_start"] + log["t_end"])
        times += [*log["t_start"], *log["t_end"], *middles]
    found = np.unique(np.array(times, dtype=np.float64))
    return found[np.isfinite(found)]


def _evenly(values: Array, most: int) -> Array:
    if len(values) <= most:
        return values
    return np.asarray(values[np.unique(np.linspace(0, len(values) - 1, max(most, 2)).astype(int))])
