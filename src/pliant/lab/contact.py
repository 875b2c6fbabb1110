"""pliant lab contact: what the laws of contact and friction do, measured on small models by simulate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.cases.case import Setting, unknown_key
from pliant.cases.contact_settings import CONTACT_SETTINGS
from pliant.engine.callbacks import Progress
from pliant.errors import ModelError
from pliant.files import whole_set, write_whole
from pliant.io.result_file import plain
from pliant.lab.belt import FORCE, STICK_SLIP
from pliant.lab.bounce import BOUNCE
from pliant.lab.experiment import Outcome, Performed, perform
from pliant.lab.rod_hits import ROD_HITS
from pliant.model.friction_laws import FRICTION_LAWS
from pliant.model.normal_laws import NORMAL_LAWS
from pliant.report_types import Finding
from pliant.view.charts.chart import Curve, write_chart
from pliant.view.page.report import write_findings

ALL = "all"
LISTS = {"laws": tuple(NORMAL_LAWS), "friction_laws": tuple(FRICTION_LAWS)}
SETTINGS = {
    "laws": Setting(ALL, "normal laws, as in laws=hertz,flores"),
    "friction_laws": Setting(ALL, "friction laws, as in friction_laws=coulomb,lugre"),
    "mass": Setting(1.0, "of ball, rod and block", "kg", low=1e-6),
    "speed": Setting(1.0, "of ball and rod into the ground", "m/s", low=1e-3),
    "gravity": Setting(9.81, "downwards, on rod and block", "m/s^2", low=1e-3),
    "stiffness": replace(CONTACT_SETTINGS["stiffness"], default=1e9, low=1e-3),
    "exponent": replace(CONTACT_SETTINGS["exponent"], low=1.0, high=10.0),
    "restitution": replace(CONTACT_SETTINGS["restitution"], default=0.5, low=0.01, high=1.0),
    "sweep": Setting(20, "how many requested restitutions", low=1, high=100),
    "angles": Setting("45,75", "of the rod to the ground, in the table, as in angles=30,60", "deg"),
    "slide": Setting(0.5, "speed of the rod along the ground", "m/s"),
    "modes": Setting(0, "bending modes of the rod; 0: rigid", low=0, high=20),
    "rod_length": Setting(1.0, "of the rod", "m", low=1e-3),
    "rod_radius": Setting(0.01, "of the rod", "m", low=1e-4),
    "rod_young": Setting(2.1e11, "modulus of the rod", "Pa", low=1.0),
    "spring": Setting(40.0, "that holds the block on the belt", "N/m", low=1e-6),
    "belt_speed": Setting(0.1, "of the belt", "m/s", low=1e-5),
    "belt_time": Setting(12.0, "how long the belt runs", "s", low=1e-3, high=1e4),
    **{
        key: replace(CONTACT_SETTINGS[key], default=default, low=low)
        for key, default, low in (
            ("mu_k", 0.2, 1e-6), ("mu_s", 0.3, 1e-6), ("v0", 1e-3, 1e-9), ("v1", 0.05, 1e-9), ("v_s", 0.05, 1e-9),
            ("c_v", 0.1, 0.0), ("xi", 40.0, 1e-9), ("sharpness", 100.0, 1e-9), ("sigma0", 1e5, 1e-3),
            ("sigma1", 100.0, 0.0),
        )
    },
}  # fmt: skip
EXPERIMENTS = (BOUNCE, ROD_HITS, FORCE, STICK_SLIP)


@dataclass(frozen=True)
class ContactLab:
    """All that was found, and with which settings."""

    settings: dict[str, Any]
    performed: Performed

    @property
    def outcomes(self) -> list[Outcome]:
        return [outcome for part in self.performed.outcomes.values() for outcome in part]

    @property
    def findings(self) -> list[Finding]:
        found = [outcome.finding for outcome in self.outcomes]
        if self.performed.breakdowns:
            text = "These runs failed; above are their partial results."
            rows = tuple(self.performed.breakdowns)
            found.append(Finding("Runs that failed", text, ("run", "why"), rows))
        return found

    @property
    def numbers(self) -> dict[str, Any]:
        """All numbers, by part."""
        names = ("restitution", "loops", "rod", "friction", "stick_slip")
        return dict(zip(names, (outcome.numbers for outcome in self.outcomes), strict=True))


def resolve(given: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults overridden by what is given, checked; lists of laws as tuples."""
    for key in given:
        if key not in SETTINGS:
            raise ModelError(unknown_key(key, SETTINGS, "pliant lab contact"))
    values = {key: setting.parse(key, given.get(key, setting.default)) for key, setting in SETTINGS.items()}
    for key, known in LISTS.items():
        values[key] = _parse_laws(key, values[key], known)
    values["angles"] = _parse_angles(values["angles"])
    if values["mu_s"] < values["mu_k"]:
        raise ModelError(f"mu_s: {values['mu_s']:g} is below mu_k {values['mu_k']:g}; give mu_s >= mu_k")
    if values["v1"] <= values["v0"]:
        raise ModelError(f"v1: {values['v1']:g} m/s is not above v0 {values['v0']:g} m/s; give v1 > v0")
    return values


def _parse_laws(key: str, text: str, known: tuple[str, ...]) -> tuple[str, ...]:
    if text == ALL:
        return known
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in known:
            raise ModelError(f"{key}: {word!r} is not known; choose {ALL}, or some of {', '.join(known)}")
    if not words:
        raise ModelError(f"{key}: nothing found; give {ALL}, or names with commas between")
    return tuple(dict.fromkeys(words))


def _parse_angles(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(word) for word in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(0.0 < angle < 180.0 for angle in found):
        raise ModelError(f"angles: {text!r} found; give numbers between 0 and 180 [deg] with commas between")
    return tuple(dict.fromkeys(found))


def contact_lab(settings: dict[str, Any], progress: Progress | None = None) -> ContactLab:
    """Perform all experiments with the settings of resolve. progress(done, all) counts runs."""
    return ContactLab(settings, perform(EXPERIMENTS, settings, progress))


def write_contact_lab(found: ContactLab, folder: Path) -> None:
    """report.html, summary.json, and delivered against requested restitution as restitution.svg; all or none."""
    with whole_set():
        _write(found, folder)


def _write(found: ContactLab, folder: Path) -> None:
    lists = {
        key: ALL if value == LISTS.get(key) else ", ".join(map(str, value))
        for key, value in found.settings.items()
        if isinstance(value, tuple)
    }
    write_findings(
        folder / "report.html",
        found.findings,
        title="The laws of contact",
        description="What every law of contact and friction does, measured by simulation of small models.",
        settings={**found.settings, **lists},
        setting_table=SETTINGS,
    )
    summary = {"settings": found.settings, **found.numbers, "breakdowns": found.performed.breakdowns}
    write_whole(folder / "summary.json", json.dumps(plain(summary), indent=1) + "\n")
    rows = found.numbers["restitution"]
    asked = np.array(sorted({row["requested"] for row in rows}))
    curves = [
        Curve(law, asked, np.array([row["delivered"] for row in rows if row["law"] == law]))
        for law in found.settings["laws"]
    ]
    write_chart(
        [*curves, Curve("as asked", asked, asked, is_dashed=True)],
        folder / "restitution.svg",
        label="restitution delivered against requested",
        across="e requested",
        across_unit="-",
        unit="e delivered",
        height=420.0,
    )
