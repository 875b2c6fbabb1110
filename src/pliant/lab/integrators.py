"""pliant lab integrators: what every integrator does, measured on small models by the kernels themselves."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.cases.case import Setting, unknown_key
from pliant.engine.callbacks import Progress
from pliant.errors import ModelError
from pliant.files import whole_set, write_whole
from pliant.io.result_file import plain
from pliant.lab.convergence import energies, orders
from pliant.lab.experiment import Outcome
from pliant.lab.integrator_methods import ADVICE, all_methods
from pliant.lab.oscillator import SHOWN, limit_words, percent, spectra
from pliant.lab.thesis_claims import claims
from pliant.lab.work_precision import MODELS, find_model, work_precision
from pliant.methods import PARAMETERS
from pliant.report_types import Finding
from pliant.view.charts.chart import Curve, write_chart
from pliant.view.page.report import write_findings

ALL = "all"


def _of_method(key: str) -> Setting:
    """A parameter of a method."""
    method, row = PARAMETERS[key]
    return Setting(row.default, f"of {method.name}: {row.words}", low=row.low, high=row.high)


SETTINGS = {
    "methods": Setting(ALL, "integrators, as in methods=newmark,wilson"),
    "models": Setting(",".join(MODELS), "of work and precision: these, built-in cases, or model files"),
    "points": Setting(32, "how many omega h between 0.03 and the largest", low=3, high=400),
    "largest": Setting(100.0, "omega h", low=1.0, high=1e4),
    "steps_per_period": Setting(40, "of the long swing", low=4, high=10_000),
    "periods": Setting(100, "of the long swing", low=1, high=100_000),
    **{key: _of_method(key) for key in ("max_order", "rho_inf", "alpha", "beta", "gamma", "theta", "g1", "g2")},
}
PARTS: dict[str, Callable[[Mapping[str, Any]], tuple[Outcome, ...]]] = {
    "spectra": spectra,
    "orders": orders,
    "energies": energies,
    "work_precision": work_precision,
    "claims": claims,
}


@dataclass(frozen=True)
class IntegratorLab:
    """All that was found, and with which settings."""

    settings: dict[str, Any]
    outcomes: dict[str, tuple[Outcome, ...]]

    @property
    def overview(self) -> Finding:
        """One row per method."""
        spectrum, order, energy = (
            {row["method"]: row for row in self.outcomes[part][0].numbers} for part in ("spectra", "orders", "energies")
        )
        rows = []
        for label in self.settings["methods"]:
            left, slope, found = energy[label], order[label]["order"], spectrum[label]
            rows.append(
                (
                    label,
                    "none" if math.isnan(slope) else f"{slope:.1f}",
                    limit_words(found["limit"], self.settings["largest"]),
                    percent(found["shown"]["damping"]),
                    percent(found["shown"]["period_error"]),
                    f"{100.0 * left['energy_left']:.4g}" if left["status"] == "done" else "grows",
                    ADVICE[label],
                )
            )
        text = (
            "Measured by running the kernels with fixed steps: order on rotations in space; omega h up to which an "
            f"undamped oscillation does not grow, and damping and period error that it shows at omega h = {SHOWN:g}; "
            "what is left of a pendulum's energy after "
            f"{self.settings['periods']} periods of {self.settings['steps_per_period']} steps. If in doubt: auto, "
            "which is dop853, and radau where the model is stiff; with fixed steps generalised_alpha."
        )
        columns = ("method", "order", "stable to", "damping [%]", "period [%]", "energy left [%]", "advice")
        return Finding("What to take", text, columns, tuple(rows), (), (1, 2, 3, 4, 5))

    @property
    def findings(self) -> list[Finding]:
        return [self.overview, *(outcome.finding for part in self.outcomes.values() for outcome in part)]

    @property
    def numbers(self) -> dict[str, Any]:
        """All numbers, by part."""
        return {
            name: [outcome.numbers for outcome in part if outcome.numbers is not None]
            for name, part in self.outcomes.items()
        }


def resolve(given: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults overridden by what is given, checked; lists as tuples."""
    for key in given:
        if key not in SETTINGS:
            raise ModelError(unknown_key(key, SETTINGS, "pliant lab integrators"))
    values = {key: setting.parse(key, given.get(key, setting.default)) for key, setting in SETTINGS.items()}
    known = tuple(all_methods(values))
    words = _words("methods", values["methods"])
    for word in words:
        if word not in known and word != ALL:
            raise ModelError(f"methods: {word!r} is not known; choose {ALL}, or some of {', '.join(known)}")
    values["methods"] = known if ALL in words else words
    values["models"] = _words("models", values["models"])
    for word in values["models"]:
        find_model(word)
    return values


def _words(key: str, text: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not words:
        raise ModelError(f"{key}: nothing found; give names with commas between")
    return words


def integrator_lab(settings: dict[str, Any], progress: Progress | None = None) -> IntegratorLab:
    """Measure everything with the settings of resolve. progress(done, all) counts parts."""
    found = {}
    for done, (name, part) in enumerate(PARTS.items(), start=1):
        found[name] = part(settings)
        if progress is not None:
            progress(done, len(PARTS))
    return IntegratorLab(settings, found)


def write_integrator_lab(found: IntegratorLab, folder: Path) -> None:
    """report.html, summary.json, and spectral radius over omega h as spectra.svg; all or none."""
    with whole_set():
        _write(found, folder)


def _write(found: IntegratorLab, folder: Path) -> None:
    lists = {key: ", ".join(found.settings[key]) for key in ("methods", "models")}
    if found.settings["methods"] == tuple(all_methods(found.settings)):
        lists["methods"] = ALL
    write_findings(
        folder / "report.html",
        found.findings,
        title="The integrators",
        description="What every integrator does, measured by running it: order, stability, damping, energy, cost.",
        settings={**found.settings, **lists},
        setting_table=SETTINGS,
    )
    summary = {"settings": found.settings, **found.numbers}
    write_whole(folder / "summary.json", json.dumps(plain(summary), indent=1) + "\n")
    rows = found.outcomes["spectra"][0].numbers
    curves = [
        Curve(row["method"], np.log10(row["omega_h"]), np.where(np.array(row["radius"]) < 2.0, row["radius"], np.nan))
        for row in rows
    ]
    write_chart(
        curves,
        folder / "spectra.svg",
        label="spectral radius over omega h",
        across="log10 omega h",
        across_unit="-",
        unit="spectral radius",
        height=420.0,
    )
