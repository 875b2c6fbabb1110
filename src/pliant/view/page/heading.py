"""Top of the page: what was run, how it ended, and the four numbers one looks for first."""

from __future__ import annotations

from html import escape

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


def outcome(result: Recording) -> str:
    """How a run ended and why, what to mind, and facts."""
    css, word, words = STATUS.get(result.status, ("warn", result.status, ""))
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


def describe(result: Recording) -> str:
    """One line about the model."""
    links = [link for link in result.model.links if link.transmission is None]
    n_v, n_flexible = len(result.model.velocities), len(result.model.links) - len(links)
    kinds = dict.fromkeys(link.joint.kind for link in links if link.joint.kind != "fixed")
    counts = [f"{sum(link.joint.kind == kind for link in links)} {kind}" for kind in kinds]
    bodies = "1 body" if len(links) == 1 else f"{len(links)} bodies"
    freedom = "1 degree of freedom" if n_v == 1 else f"{n_v} degrees of freedom"
    if result.model.loops:
        freedom = f"{n_v} velocities, {len(result.model.loops)} closed loop{'s' * (len(result.model.loops) > 1)}"
    joints = f", joints: {', '.join(counts)}" if counts else ""
    joints += f" ({n_flexible} flexible)" if n_flexible else ""
    return f"Model {result.model.name}: {bodies}, {freedom}{joints}"


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
