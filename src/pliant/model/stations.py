"""A model with frames along its beams: how one asks for places between joints and named frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pliant.model.bodies import Frame
from pliant.model.model import Model


def with_stations(model: Model, places: Mapping[str, Sequence[float]]) -> tuple[Model, dict[str, list[str]]]:
    """The model with a frame at every place x [m] of the beams named, and the names of these frames by beam."""
    names = {
        beam: [f"_station_{number}_{k}" for k in range(len(each))] for number, (beam, each) in enumerate(places.items())
    }
    frames = [
        Frame(beam, (float(x), 0.0, 0.0), name=name)
        for beam, each in places.items()
        for x, name in zip(each, names[beam], strict=True)
    ]
    return replace(model, frames=(*model.frames, *frames)), names
