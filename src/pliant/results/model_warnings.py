"""Mistakes that a model shows by itself, whatever is asked of it: a joint that was forgotten, a beam that cannot bend
where it should, numbers in other units than SI, a quaternion whose first number was taken for w."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.prepared import prepare
from pliant.errors import AccuracyWarning
from pliant.model.flexible import Beam
from pliant.model.messages import listed
from pliant.model.model import Model
from pliant.model.sections import beam_values, breakpoints
from pliant.model.signals import Constant
from pliant.model.tree import find_frame

Array = NDArray[np.float64]
YOUNG_RANGE = (1e6, 1e13)  # [Pa]: from rubber to ten times diamond
DENSITY_RANGE = (1.0, 3e4)  # [kg/m^3]: from gas to beyond osmium
UNITS = (("GPa", 1e9, 1e3), ("MPa", 1e6, 1e7))  # in which moduli are often given: size [Pa], and their largest number
SMALL_SAG = 1e-4  # of a beam's length: what gravity would bend it by less is left out on purpose
SMALL_SHARE = 1e-3  # of gravity: less is the rounding of an attitude
KEPT = "_warnings"  # in the model's dictionary
W_FIRST = (1.0, 0.0, 0.0, 0.0)  # no rotation, where w stands first


def model_warnings(model: Model) -> tuple[str, ...]:
    """What a user should know about a model before believing what is computed of it.

    Kept with the model, as its links are: many runs of one model ask."""
    known = model.__dict__
    if KEPT not in known:
        known[KEPT] = tuple(_found(model))
    found: tuple[str, ...] = known[KEPT]
    return found


def _found(model: Model) -> Iterator[str]:
    yield from _forgotten_joint(model)
    yield from _idle_drives(model)
    yield from _quaternions(model)
    yield from _by_beams((beam.name, words) for beam in model.beams for words in (*_rigid(beam), *_implausible(beam)))
    yield from _by_beams(_gravity_across_shapes(model))


def warn_about_model(model: Model) -> None:
    """Emit these as one warning that points at the caller's caller."""
    words = model_warnings(model)
    if words:
        warnings.warn("\n".join(words), AccuracyWarning, stacklevel=3)


# --- joints and attitudes ---------------------------------------------------------------------------------------------


def _forgotten_joint(model: Model) -> Iterator[str]:
    """A body without a joint is welded to the world; a model whose base is meant to be fixed says so. Of a beam from
    which all else hangs, and which bends, nobody would expect more."""
    if model.is_base_given:
        return
    carried = {joint.child for joint in model.joints}
    is_root = all(find_frame(model, joint.parent).body != "world" for joint in model.joints)
    for body in model.bodies:
        if body.name not in carried and not (is_root and body.n_modes):
            yield (
                f"body {body.name!r} has no joint, so that it is welded to the world; give it the joint that carries "
                'it, or say base = "fixed" ("planar", "floating") of the model'
            )


def _idle_drives(model: Model) -> Iterator[str]:
    """Motors and controllers of what moves as its signal says, whatever they do."""
    advice = "has no effect on it; leave one of the two out"
    for joint in model.joints:
        pairs = [*zip(joint.each("motion"), joint.each("motor"), strict=True)]
        if any(_is_given(motion) and motor not in (None, Constant(0.0)) for motion, motor in pairs):
            yield f"joint {joint.name!r}: its motion is prescribed, so that its motor {advice}"
        if not pairs or not all(_is_given(motion) for motion, _ in pairs):
            continue
        for controller in model.controllers:
            if joint.name in controller.joints:
                yield (
                    f"joint {joint.name!r}: its motion is prescribed, so that controller {controller.name!r} {advice}"
                )


def _is_given(motion: Any) -> bool:
    return motion is not None and motion != "free"


def _quaternions(model: Model) -> Iterator[str]:
    """(1, 0, 0, 0), in other programs no rotation, is half a revolution here."""
    places: list[tuple[str, Any]] = [("base", model.base)]
    for what in ("frame", "joint", "load", "spring", "contact", "loop"):
        for number, item in enumerate(getattr(model, f"{what}s")):
            places.append((f"{what} {item.name!r}" if item.name else f"{what}s[{number}]", item))
    for where, item in places:
        if W_FIRST in _attitudes(item):
            yield w_first_words(where)
    for joint in model.joints:
        if joint.kind in ("spherical", "floating") and isinstance(joint.q0, tuple) and joint.q0[-4:] == W_FIRST:
            yield w_first_words(f"joint {joint.name!r}: q0")


def _attitudes(item: Any) -> Iterator[Any]:
    """All attitudes in an object and in the objects it is made of."""
    for field in dataclasses.fields(item):
        value = getattr(item, field.name)
        if field.name == "attitude":
            yield value
        parts = value if isinstance(value, tuple) else (value,)
        if not parts or isinstance(parts[0], float):  # tables of numbers may be long
            continue
        for part in parts:
            if dataclasses.is_dataclass(part):
                yield from _attitudes(part)


def w_first_words(where: str) -> str:
    """Ask about a quaternion that looks as if w stood first."""
    return (
        f"{where} has the quaternion (1, 0, 0, 0), which is x y z w: half a revolution about x; no rotation is "
        '(0, 0, 0, 1), and half a revolution is better given as { axis = "x", angle = "180 deg" }'
    )


# --- beams ------------------------------------------------------------------------------------------------------------


def _by_beams(found: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Each finding once, with the names of all beams that it is about."""
    names: dict[str, list[str]] = {}
    for beam, words in found:
        names.setdefault(words, []).append(beam)
    for words, beams in names.items():
        who = f"beam {beams[0]!r}" if len(beams) == 1 else f"beams {listed(beams, 4)}"
        yield f"{who}: {words}"


def _rigid(beam: Beam) -> Iterator[str]:
    if beam.n_modes == 0 and beam.bending_y is None and beam.bending_z is None:
        yield (
            "no shapes are given, so that it is rigid; say how many: bending_y = 2 for bending in its x-y plane, "
            "bending_z = 2 in x-z, or 0 where it is meant to be rigid"
        )


def _implausible(beam: Beam) -> Iterator[str]:
    """Numbers that no material and no beam has, as those in GPa or mm are."""
    young, density = beam.material.young, beam.material.density
    low, high = YOUNG_RANGE
    if not low <= young <= high:
        hints = [f" ({unit} meant? {young * size:g})" for unit, size, most in UNITS if low / size <= young <= most]
        yield (
            f"young = {young:g} Pa is the modulus of elasticity of no material; they have {low:g} to {high:g} Pa"
            f"{hints[0] if hints else ''}"
        )
    low, high = DENSITY_RANGE
    if beam.mass_per_length is None and not low <= density <= high:
        yield f"density = {density:g} kg/m^3 is that of no material; they have {low:g} to {high:g} kg/m^3"
    across = _section_size(beam)
    if across > beam.length:
        yield (
            f"its section is {across:.3g} m across, which is more than its length, {beam.length:.3g} m; give both in m"
        )


def _section_size(beam: Beam) -> float:
    """The longer edge of a rectangle with the area and second moments of the section, where it is largest [m]."""
    section = beam_values(beam, breakpoints(beam.section) * beam.length).section
    return float(np.sqrt(12.0 * np.max(np.maximum(section.moment_y, section.moment_z) / section.area)))


def _gravity_across_shapes(model: Model) -> Iterator[tuple[str, str]]:
    """Beam and words where gravity bends it in the plane without shapes, and not in the one that has them."""
    chosen = [k for k, link in enumerate(model.links) if isinstance(link.body, Beam) and _bends_in_one(link.body)]
    if not any(model.gravity) or not chosen:
        return
    R = prepare(model).placements(model.q0[None], [model.links[k].body.name for k in chosen])[0][0]
    for k, attitude in zip(chosen, R, strict=True):
        beam: Any = model.links[k].body
        _, *g = np.abs(attitude.T @ np.array(model.gravity))
        along, across = g if beam.families[0] else reversed(g)
        bare, shaped = ("bending_z", "bending_y") if beam.families[0] else ("bending_y", "bending_z")
        sag = _sag(model, k, float(across), bare)
        if along <= SMALL_SHARE * across and sag > SMALL_SAG * beam.length:
            gravity = ", ".join(f"{value:g}" for value in model.gravity)
            words = (
                f"gravity ({gravity}) acts across the plane in which it bends ({shaped}); in the other, where it would "
                f"bend by about {sag:.2g} m, it has no shapes: give {bare}, another gravity, or turn the beam"
            )
            yield beam.name, words


def _bends_in_one(beam: Beam) -> bool:
    """Return True if the beam has shapes of bending in one of its planes only."""
    return (beam.families[0] > 0) != (beam.families[1] > 0)


def _sag(model: Model, number: int, g: float, plane: str) -> float:
    """Deflection of the tip of a cantilever under its own weight and that of what it carries [m]."""
    beam: Any = model.links[number].body
    values = beam_values(beam, np.array([0.5 * beam.length]))
    stiffness = float((values.bend_y if plane == "bending_y" else values.bend_z)[0])
    carried, outboard = 0.0, {number}
    for k, link in enumerate(model.links):
        if link.parent in outboard:
            outboard.add(k)
            carried += link.body.total_mass
    return float(g * beam.length**3 * (beam.total_mass / 8.0 + carried / 3.0) / stiffness)
