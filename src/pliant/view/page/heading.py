"""Top of the page: what was run, how it ended, and the four numbers one looks for first."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from pliant.mechanisms.assembly import mobility
from pliant.results.recording import Recording
from pliant.view.page.html import seconds, sentence
from pliant.view.svg import readable

STATUS = {
    "done": ("good", "Done", "The run came to its end as asked."),
    "stopped": ("good", "Stopped", "The run ended where the model asks."),
    "interrupted": ("warn", "Interrupted", "The run was interrupted; its partial results are shown."),
    "failed": ("bad", "Failed", "The run failed; its partial results are shown."),
}
LEVELS = {"warning": ("warn", "Warning"), "wrong": ("bad", "Wrong")}


def verdict(result: Recording) -> tuple[str, str]:
    """How good a run is, as a colour, and how it ended, in a few words: a run with warnings is not green."""
    css, word, _ = STATUS.get(result.status, ("warn", result.status, ""))
    levels = [found.level for found in result.diagnostics]
    if not levels:
        return css, word
    if "wrong" in levels:
        return "bad", f"{word}, but wrong"
    return (
        "bad" if css == "bad" else "warn",
        f"{word}, with {len(levels)} {'warnings' if len(levels) > 1 else 'warning'}",
    )


def run_mark(result: Recording) -> str:
    """What is said of a run where it can be chosen; nothing if it is as it should be."""
    css, word = verdict(result)
    return "" if css == "good" else word.lower()


def outcome(result: Recording) -> str:
    """How a run ended and why, what to mind, and facts."""
    css, word = verdict(result)
    words = STATUS.get(result.status, ("", "", ""))[2]
    reason = f"{words} {sentence(result.reason)}".strip()
    return (
        f'<p class="status {css}"><strong>{escape(word)}.</strong> <span>{escape(reason)}</span></p>\n'
        + "".join(
            f'<p class="status {LEVELS[found.level][0]}"><strong>{LEVELS[found.level][1]}.</strong> '
            f"<span>{escape(sentence(found.words))}</span></p>\n"
            for found in result.diagnostics
        )
        + _facts(result)
    )


def study_outcome(variants: Mapping[str, Recording]) -> str:
    """How several runs ended, all together: as bad as the worst."""
    marks = {label: run_mark(result) for label, result in variants.items()}
    noted = {label: mark for label, mark in marks.items() if mark}
    css = [verdict(result)[0] for result in variants.values()]
    worst = next(each for each in ("bad", "warn", "good") if each in css)
    words = "All came to their end as asked." if not noted else ", ".join(f"{a}: {b}" for a, b in noted.items()) + "."
    return (
        f'<p class="status {worst}"><strong>{len(variants)} runs.</strong> '
        f"<span>{escape(words)} Below one of them; choose another above the picture.</span></p>\n"
    )


def describe(result: Recording) -> str:
    """One line about the model."""
    model = result.model
    links = [link for link in model.links if link.transmission is None]
    n_flexible = len(model.links) - len(links)
    kinds = dict.fromkeys(link.joint.kind for link in links if link.joint.kind != "fixed")
    counts = [f"{sum(link.joint.kind == kind for link in links)} {kind}" for kind in kinds]
    n_prescribed = sum(sum(link.joint.driven) for link in model.links)
    n_modes = sum(beam.n_modes for beam in model.beams)
    freedom = _counted(_mobility(result) if model.loops else len(model.velocities) - n_prescribed, "degree of freedom")
    parts = [
        _counted(len(links), "body"),
        freedom + (f" ({n_modes} of bending links)" if n_modes else ""),
        _counted(n_prescribed, "prescribed motion") if n_prescribed else "",
        _counted(len(model.loops), "closed loop") if model.loops else "",
        f"joints: {', '.join(counts)}" + (f" ({n_flexible} flexible)" if n_flexible else "") if counts else "",
    ]
    return f"Model {model.name}: {', '.join(part for part in parts if part)}"


def _counted(count: int, noun: str) -> str:
    several = {"body": "bodies", "degree of freedom": "degrees of freedom"}
    return f"{count} {noun if count == 1 else several.get(noun, noun + 's')}"


def _mobility(result: Recording) -> int:
    """How many velocities the loops leave free, at the first pose of the run."""
    return mobility(result.model, result.q[0] if len(result.t) else None).freedom


def _facts(result: Recording) -> str:
    end = readable(float(result.t[-1])) + " s" if len(result.t) else "nothing"
    facts = [
        ("simulated", end),
        ("energy residual", readable(result.audit.get("energy_residual", float("nan")), 2)),
        ("steps", readable(int(result.stats.get("steps", len(result.t))))),
        ("computing time", seconds(float(result.stats.get("wall_s", float("nan"))))),
    ]
    cards = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{cards}</dl>'
