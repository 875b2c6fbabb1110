"""Accuracy of a run: its audit, what it took, how it was made."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from html import escape
from importlib import metadata
from typing import Any, Protocol

import numpy as np

from pliant import __version__
from pliant.diagnostics import JUDGED, WARNING, WRONG, Diagnostic
from pliant.results.recording import Recording
from pliant.view.page.html import seconds, section, table, with_unit
from pliant.view.svg import power_of_ten

MAX_SETTINGS = 12  # shown at once
FAR = 0.05  # of a restitution from the one asked for
AUDIT = {
    "energy_residual": (
        "Energy that appeared or vanished without a work to explain it, relative to the energy that moved. "
        "It measures the time integration: the smaller, the better.",
        "",
    ),
    "energy_scale": ("The energy that moved, to which the residual is related.", "J"),
    "friction_drive": (
        "Friction with the motion, as a part of force times speed: it takes power, so this is 0 but for rounding.",
        "",
    ),
    "friction_power": ("The largest power that friction gave to the motion.", "W"),
    "stick_load": ("Largest force that held a sticking contact or joint, over what friction can hold there.", ""),
    "false_events": (
        "Contacts, stops, flanks and one-way springs that began while they acted, or ended while they did not: 0.",
        "",
    ),
    "start_speed_gain": (
        "Largest speed at the start, after its loops were closed, over the largest given; large near singular poses.",
        "",
    ),
    "momentum_drift": (
        "Change of linear or angular momentum, which must not change here, relative to the bodies' own momenta.",
        "",
    ),
    "constraint_drift": ("How far attitudes (unit quaternions) and closed loops left what they must fulfil.", ""),
    "deflection_ratio": (
        "Largest deflection of a beam over its length: up to about 0.1, with fourth-order coupling 0.25.",
        "",
    ),
    "section_angle": (
        "Largest angle of a beam's section against its frame: up to about 0.2, with fourth-order coupling 0.4.",
        "rad",
    ),
    "coupling_order": ("Order of the slopes that the coupling of that beam counts.", ""),
    "growing_turn": (
        "Frequency times step of the fastest motion about the start that the fixed step lets grow; 0 if there is none.",
        "rad",
    ),
    "stability_limit": ("Frequency times step up to which the method lets no oscillation grow.", "rad"),
    "length_error": ("Largest error of places, from a run with tighter tolerances (accuracy).", "m"),
    "angle_error": ("Largest error of attitudes, from a run with tighter tolerances (accuracy).", "rad"),
    "event_error": ("How far in time the located events may be from the true ones.", "s"),
}
STATS = {
    "steps": ("accepted steps", ""),
    "rejected": ("rejected steps", ""),
    "evaluations": ("evaluations of the equations of motion", ""),
    "events": ("times at which events were found", ""),
    "jacobians": ("Jacobians formed", ""),
    "factorisations": ("factorisations in Newton's method", ""),
    "wall_s": ("computing time", ""),
    "compile_s": ("getting ready (compiling or loading)", ""),
}
OPTIONS = {
    "formulation": ("formulation", ""),
    "integrator": ("integrator", ""),
    "why_changed": ("why it was changed", ""),
    "duration": ("duration asked for", "s"),
    "rtol": ("relative tolerance", ""),
    "atol": ("absolute tolerance", "rad"),
    "step": ("fixed step", "s"),
    "max_step": ("largest step", "s"),
    "max_steps": ("steps allowed", ""),
    "sample": ("recorded every", "s"),
    "dense": ("dense output", ""),
    "rho_inf": ("rest of fast motion per step, rho_inf", ""),
    "alpha": ("numerical damping, alpha", ""),
    "beta": ("Newmark's beta", ""),
    "gamma": ("Newmark's gamma", ""),
    "closure": ("closure of the loops", ""),
    "closure_stiffness": ("stiffness of virtual springs", "N/m"),
    "closure_damping": ("damping of virtual springs", "N s/m"),
    "closure_form": ("form of virtual springs", ""),
    "closure_prestretch": ("virtual springs pre-stretched", ""),
    "baumgarte": ("rate at which loops are closed", "1/s"),
}


class SettingInfo(Protocol):
    """What is known of a setting."""

    @property
    def help(self) -> str: ...
    @property
    def unit(self) -> str: ...


def accuracy_section(result: Recording, settings: Mapping[str, Any], infos: Mapping[str, SettingInfo]) -> str:
    found = {each.key: each for each in result.diagnostics}
    audit = [_audit_row(name, value, found.get(name)) for name, value in result.audit.items()]
    audit += [*_restitution_row(result), *_digits_row(result)]
    stats = [_named(name, value, STATS) for name, value in result.stats.items()]
    options = [_named(name, value, OPTIONS) for name, value in result.settings.items() if value is not None]
    options += [[escape(name), escape(version)] for name, version in _versions()]
    given = [
        setting_row(name, value, infos.get(name)) for name, value in settings.items() if name not in result.settings
    ]
    content = table(("check", "value", "verdict", "what it says"), audit, (1,)) if audit else ""
    blocks = [("How it was run", options), ("What it took", stats)]
    cards = "".join(f"<div><h3>{title}</h3>{table(('', ''), rows, (1,))}</div>" for title, rows in blocks if rows)
    believed = section("Accuracy", f'{content}\n<div class="pairs">{cards}</div>')
    return believed + methods_section(result) + settings_section(given)


def methods_section(result: Recording) -> str:
    """What a paper would cite."""
    rows = [
        [
            escape(row["family"]),
            f"<code>{escape(row['name'])}</code>",
            escape(", ".join(f"{name} = {shown(value)}" for name, value in row.get("parameters", {}).items())),
            escape(row["citation"]),
        ]
        for row in result.citations
    ]
    return section("Methods", table(("", "method", "parameters", "reference"), rows)) if rows else ""


def shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _versions() -> Iterator[tuple[str, str]]:
    yield "pliant", __version__
    yield "Python", platform.python_version()
    for name in ("numpy", "numba"):
        with suppress(metadata.PackageNotFoundError):
            yield name, metadata.version(name)


def _restitution_row(result: Recording) -> Iterator[list[str]]:
    """How far contacts bounced from what was asked of them."""
    rows = result.contacts
    asked, delivered = rows["restitution_requested"], rows["restitution_delivered"]
    known = np.isfinite(asked) & np.isfinite(delivered)
    if np.any(known):
        off = np.where(known, np.abs(delivered - asked), 0.0)
        worst = int(np.argmax(off))
        meaning = (
            "Largest difference between the restitution that a contact delivered and the one asked for: laws keep it "
            "in single, central impacts only."
        )
        verdict = _verdict("good", "ok")
        if off[worst] > FAR:
            verdict = VERDICTS[WARNING]
            meaning = (
                f"Asked for {asked[worst]:.3g}, contact {worst + 1} delivered {delivered[worst]:.3g}. {meaning} "
                'The law "exact" delivers what is asked for.'
            )
        yield ["<code>restitution</code>", with_unit(float(off[worst]), "", 2), verdict, escape(meaning)]


def _digits_row(result: Recording) -> Iterator[list[str]]:
    if result.trust is None:
        return
    digits, lost = result.trust.digits, result.trust.lost
    meaning = "Digits that are right, of all figures: found by other runs, see Which digits are right."
    verdict = _verdict("good", "ok")
    if lost:
        verdict = VERDICTS[WARNING]
        meaning = f"Not predictable, or not known: {lost} of {len(digits)} figures. {meaning}"
    yield ["<code>digits</code>", result.trust.span, verdict, escape(meaning)]


def _verdict(css: str, word: str) -> str:
    return f'<strong class="{css}">{word}</strong>'


VERDICTS = {WARNING: _verdict("warn", "warning"), WRONG: _verdict("bad", "wrong")}


def _audit_row(name: str, value: float, found: Diagnostic | None) -> list[str]:
    """What was found to be wrong is the reason of the verdict, and stands before what the check is about."""
    meaning, unit = AUDIT.get(name, ("", ""))
    verdict = _verdict("good", "ok") if name in JUDGED else ""
    if found is None and name.endswith("_residual") and 0 < value < 1:
        meaning += f" Here: about one part in {power_of_ten(int(np.floor(-np.log10(value))))}."
    if found is not None:
        verdict = VERDICTS[found.level]
        meaning = f"{found.words[:1].upper()}{found.words[1:]}. {meaning}"
    return [f"<code>{escape(name)}</code>", with_unit(float(value), unit, 2), verdict, escape(meaning)]


def _named(name: str, value: Any, words: Mapping[str, tuple[str, str]]) -> list[str]:
    label, unit = words.get(name, (name.replace("_", " "), ""))
    return [escape(label), seconds(float(value)) if name.endswith("_s") else with_unit(value, unit)]


def setting_row(name: str, value: Any, info: SettingInfo | None) -> list[str]:
    unit, meaning = (info.unit, escape(info.help)) if info else ("", "")
    return [f"<code>{escape(name)}</code>", with_unit(value, unit), meaning]


def settings_section(rows: Sequence[Sequence[str]]) -> str:
    """Many settings are folded away."""
    if not rows:
        return ""
    content = table(("setting", "value", "meaning"), rows, (1,))
    if len(rows) > MAX_SETTINGS:
        content = f"<details><summary>{len(rows)} settings of the case</summary>{content}</details>"
    return section("Settings", content)
