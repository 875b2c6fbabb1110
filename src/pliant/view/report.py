"""report.html: one page with pictures, figures, charts and what one may believe of them. No network, no script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pliant import __version__
from pliant.errors import ModelError
from pliant.files import write_whole
from pliant.result import Result
from pliant.view.beam_charts import beam_charts
from pliant.view.chart import Curve, line_chart, nice_step
from pliant.view.quantity import Panel, Quantities, default_panels, dense_range, has_dense
from pliant.view.robot import ghost_picture, snapshots
from pliant.view.scene import make_scene
from pliant.view.svg import TIMES, power_of_ten, readable, stylesheet

MOST_ROWS = 100  # of a table
MOST_FIGURES = 12  # shown at once
ROUNDING = 1e-17  # relative energy errors below it are drawn as this
WORDS = ("meaning", "what it says")  # columns of sentences
STATUS = {
    "done": ("good", "Done", "The run came to its end as asked."),
    "stopped": ("good", "Stopped", "The run ended where the model asks."),
    "interrupted": ("warn", "Interrupted", "The run was interrupted; what was reached is shown."),
    "failed": ("bad", "Failed", "The run broke down; what was reached is shown."),
}
AUDIT = {
    "energy_residual": (
        "Energy that appeared or vanished without a work to explain it, relative to the energy that moved. "
        "It measures the time integration: the smaller, the better.",
        "",
    ),
    "momentum_drift": (
        "Change of linear or angular momentum, which must not change here, relative to the bodies' own momenta.",
        "",
    ),
    "constraint_drift": ("How far attitudes (unit quaternions) and closed loops left what they must fulfil.", ""),
    "deflection_ratio": (
        "Largest deflection of a beam over its length: small bending is assumed, up to about 0.1.",
        "",
    ),
    "section_angle": ("Largest angle of a beam's section against its frame: small up to about 0.2.", "rad"),
    "event_error": ("How far in time the located events may be from the true ones.", "s"),
}
STATS = {
    "steps": ("accepted steps", ""),
    "rejected": ("rejected steps", ""),
    "evaluations": ("evaluations of the equations of motion", ""),
    "events": ("instants with events", ""),
    "jacobians": ("Jacobians formed", ""),
    "factorisations": ("factorisations in Newton's method", ""),
    "wall_s": ("computing time", ""),
    "compile_s": ("getting ready (compiling or loading)", ""),
}
OPTIONS = {
    "formulation": ("formulation", ""),
    "integrator": ("integrator", ""),
    "duration": ("duration asked for", "s"),
    "rtol": ("relative tolerance", ""),
    "atol": ("absolute tolerance", "rad"),
    "step": ("fixed step", "s"),
    "max_step": ("largest step", "s"),
    "max_steps": ("most steps", ""),
    "sample": ("rows every", "s"),
    "dense": ("dense output", ""),
    "rho_inf": ("rest of fast motion per step, rho_inf", ""),
    "alpha": ("numerical damping, alpha", ""),
    "beta": ("Newmark's beta", ""),
    "gamma": ("Newmark's gamma", ""),
}


class FigureInfo(Protocol):
    """What is known of a figure beforehand; what cases give."""

    @property
    def help(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def expected(self) -> float | None: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def source(self) -> str: ...


class SettingInfo(Protocol):
    """What is known of a setting."""

    @property
    def help(self) -> str: ...
    @property
    def unit(self) -> str: ...


class LinesInfo(Protocol):
    """A chart over something other than time."""

    @property
    def title(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def across(self) -> str: ...
    @property
    def across_unit(self) -> str: ...
    @property
    def is_log(self) -> bool: ...
    @property
    def curves(self) -> tuple[tuple[str, Any, Any], ...]: ...
    @property
    def dashed(self) -> tuple[str, ...]: ...


class FindingInfo(Protocol):
    """What several runs say together; what cases give."""

    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def rows(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def numbers(self) -> tuple[int, ...]: ...
    @property
    def charts(self) -> Sequence[LinesInfo]: ...


def write_report(
    result: Result,
    path: str | Path,
    *,
    title: str = "",
    figures: Mapping[str, float] | None = None,
    panels: Sequence[Panel] | None = None,
    settings: Mapping[str, Any] | None = None,
    figure_table: Mapping[str, FigureInfo] | None = None,
    setting_table: Mapping[str, SettingInfo] | None = None,
    description: str = "",
    compares: bool = True,
    variants: Mapping[str, Result] | None = None,
    findings: Sequence[FindingInfo] = (),
    moment: float | None = None,
    enlarge: float | None = None,
) -> None:
    """Write the page of a run.

    panels: charts as data; without any, coordinates, rates and outputs are shown. figure_table and setting_table say
    what names mean. compares=False leaves out expected values (they hold at a case's default settings only).
    variants: runs to be shown beside each other, by label; findings: what they say together.

    moment, enlarge: time of the picture of bent beams, and factor on their deformation; by default when they bend most,
    and as much as it takes to see it."""
    heading, quantities = title or result.model.name, Quantities(result)
    panels = default_panels(result) if panels is None else panels
    content = [
        _head(result, heading, description),
        _pictures(result),
        _bent_picture(result, moment, enlarge),
        *(_finding(finding) for finding in findings),
        _figures(figures or {}, figure_table or {}, compares),
        _side_by_side(variants, panels) if variants else _charts(result, panels),
        _beams(result),
        _energies(quantities),
        _events(result),
        _contacts(result),
        _truth(result, settings or {}, setting_table or {}),
    ]
    write_whole(Path(path), _page(heading, "\n".join(part for part in content if part)))


def write_findings(
    path: str | Path,
    findings: Sequence[FindingInfo],
    *,
    title: str,
    description: str,
    settings: Mapping[str, Any],
    setting_table: Mapping[str, SettingInfo],
) -> None:
    """Write a page of findings alone: many small runs, none of them worth a report of its own."""
    head = f'<header>\n<h1>{escape(title)}</h1>\n<p class="lead">{escape(description)}</p>\n</header>'
    given = [_setting_row(name, value, setting_table.get(name)) for name, value in settings.items()]
    content = [head, *(_finding(finding) for finding in findings), _section("Settings", _table(("", ""), given))]
    write_whole(Path(path), _page(title, "\n".join(content)))


def _page(title: str, content: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} - pliant</title>\n"
        f"<style>\n{stylesheet('colours.css')}{stylesheet('page.css')}</style>\n</head>\n<body>\n<main>\n{content}\n"
        f"<footer>Made by pliant {escape(__version__)}.</footer>\n</main>\n</body>\n</html>\n"
    )


# --- small parts ------------------------------------------------------------------------------------------------


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}\n</section>" if content else ""


def _cell(content: str, label: str, is_number: bool) -> str:
    if not content:
        return "<td></td>"
    if label in WORDS:
        return f'<td class="words">{content}</td>'
    css = ' class="number"' if is_number else ""
    return f'<td{css} data-label="{escape(label)}">{content}</td>'


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table of ready html cells; on a phone every row becomes a block. The first column has no label there."""
    heads = "".join(
        f'<th class="number">{escape(name)}</th>' if k in numbers else f"<th>{escape(name)}</th>"
        for k, name in enumerate(columns)
    )
    lines = [
        f"<tr><td>{row[0]}</td>"
        + "".join(_cell(row[k], columns[k], k in numbers) for k in range(1, len(columns)))
        + "</tr>"
        for row in rows
    ]
    head = f"<thead><tr>{heads}</tr></thead>" if any(columns) else ""
    css = "stack" if any(columns) else "plain"
    body = "\n".join(lines)
    return f'<div class="card table"><table class="{css}">{head}<tbody>\n{body}\n</tbody></table></div>'


def _seconds(value: float) -> str:
    """Computing time as one says it."""
    if not value < 1:
        return f"{readable(value, 3)} s"
    return f"{readable(1e3 * value, 2)} ms"


def _with_unit(value: Any, unit: str = "", digits: int = 6) -> str:
    if isinstance(value, (float, int, np.number, np.bool_)):
        words = readable(value, digits)  # type: ignore[arg-type]
        return f"{words} {escape(unit)}".strip() if words != "not available" else words
    return escape(str(value))


# --- top of the page --------------------------------------------------------------------------------------------


def _head(result: Result, title: str, description: str) -> str:
    css, word, sentence = STATUS.get(result.status, ("warn", result.status, ""))
    reason = f"{sentence} {_sentence(result.reason)}".strip()
    return (
        f'<header>\n<h1>{escape(title)}</h1>\n<p class="lead">{escape(description or describe(result))}</p>\n'
        f'<p class="status {css}"><strong>{escape(word)}.</strong> <span>{escape(reason)}</span></p>\n'
        + "".join(
            f'<p class="status warn"><strong>Mind.</strong> <span>{escape(_sentence(words))}</span></p>\n'
            for words in result.warnings
        )
        + f"{_facts(result)}\n</header>"
    )


def _sentence(words: str) -> str:
    words = words[:1].upper() + words[1:]
    return words if not words or words.endswith(".") else words + "."


def describe(result: Result) -> str:
    """One line about the model."""
    links, n_v = result.model.links, len(result.model.velocities)
    kinds = dict.fromkeys(link.joint.kind for link in links if link.joint.kind != "fixed")
    counts = [f"{sum(link.joint.kind == kind for link in links)} {kind}" for kind in kinds]
    bodies = "1 body" if len(links) == 1 else f"{len(links)} bodies"
    freedom = "1 degree of freedom" if n_v == 1 else f"{n_v} degrees of freedom"
    joints = f", joints: {', '.join(counts)}" if counts else ""
    return f"Model {result.model.name}: {bodies}, {freedom}{joints}"


def _facts(result: Result) -> str:
    end = readable(float(result.t[-1])) + " s" if len(result.t) else "nothing"
    facts = [
        ("simulated", end),
        ("energy residual", readable(result.audit.get("energy_residual", float("nan")), 2)),
        ("steps", readable(int(result.stats.get("steps", len(result.t))))),
        ("computing time", _seconds(float(result.stats.get("wall_s", float("nan"))))),
    ]
    cards = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{cards}</dl>'


def _pictures(result: Result) -> str:
    if len(result.t) == 0:
        return ""
    scene = make_scene(result)
    strip = "".join(f"<figure>{svg}<figcaption>{t:.4g} s</figcaption></figure>" for t, svg in snapshots(scene))
    names = ", ".join(end.name for end in scene.ends)
    note = f"{len(scene.times)} instants over each other, early ones faint; orange: the path of {names}."
    strip = f'<div class="strip">{strip}</div>' if strip else ""
    return (
        f'<section class="card robot">\n{ghost_picture(scene)}\n{strip}\n<p class="note">{escape(note)}</p>\n</section>'
    )


def _bent_picture(result: Result, t: float | None, enlarge: float | None) -> str:
    """A robot with beams at one instant, its deformation enlarged so that one sees it."""
    modes = [k for link in result.model.links for k in range(link.q_modes.start, link.q_modes.stop)]
    if not modes or len(result.t) == 0 or not has_dense(result):
        return ""
    first, last = dense_range(result)
    t = float(result.t[np.argmax(np.sum(result.q[:, modes] ** 2, axis=1))]) if t is None else t
    t = min(max(t, first), last)
    if enlarge is None:
        wanted = VISIBLE / max(result.audit.get("deflection_ratio", VISIBLE), VISIBLE / 2000)
        enlarge = max(1.0, nice_step(wanted, 1) / 2)
    scene = make_scene(result, t=t, enlarge=enlarge)
    dashed = f"; deformation {TIMES} {enlarge:g}, dashed: undeformed" if enlarge != 1 else ""
    note = f'<p class="note">{escape(f"At {t:.6g} s{dashed}.")}</p>'
    return f'<section class="card robot">\n{ghost_picture(scene)}\n{note}\n</section>'


VISIBLE = 0.2  # deflection over length that one sees well


# --- figures ----------------------------------------------------------------------------------------------------


def _figures(figures: Mapping[str, float], table: Mapping[str, FigureInfo], compares: bool) -> str:
    if not figures:
        return ""
    is_compared = compares and any(_expected(table.get(name)) is not None for name in figures)
    rows = [_figure_row(name, value, table.get(name), is_compared) for name, value in figures.items()]
    columns = ("figure", "value", "expected", "difference", "source") if is_compared else ("figure", "value", "meaning")
    note = '<p class="note">Expected values hold at the default settings of the case.</p>' if is_compared else ""
    numbers = (1, 2, 3) if is_compared else (1,)
    shown, folded = (rows, []) if len(rows) <= MOST_FIGURES + 4 else (rows[:MOST_FIGURES], rows[MOST_FIGURES:])
    content = _table(columns, shown, numbers)
    if folded:
        more = _table(columns, folded, numbers)
        content += f"<details><summary>{len(folded)} more figures</summary>{more}</details>"
    return _section("Figures", content + note)


def _expected(info: FigureInfo | None) -> float | None:
    return None if info is None else info.expected


def _figure_row(name: str, value: float, info: FigureInfo | None, is_compared: bool) -> list[str]:
    unit, meaning = (info.unit, escape(info.help)) if info else ("", "")
    if not is_compared:
        return [f"<code>{escape(name)}</code>", _with_unit(value, unit), meaning]
    words = f"<code>{escape(name)}</code>" + (f"<small>{meaning}</small>" if meaning else "")
    expected = _expected(info)
    if info is None or expected is None:
        return [words, _with_unit(value, unit), "", "", ""]
    digits = _digits(expected, info.tolerance)
    difference = _difference(float(value) - expected, info.tolerance)
    return [words, _with_unit(value, unit, digits), _with_unit(expected, unit, digits), difference, escape(info.source)]


def _digits(value: float, tolerance: float) -> int:
    """As many significant digits as the tolerance can tell apart, and one more."""
    if value == 0:
        return 3
    if tolerance <= 0:
        return 8
    return int(np.clip(np.ceil(np.log10(abs(value) / tolerance)) + 1, 3, 15))


def _difference(difference: float, tolerance: float) -> str:
    if np.isnan(difference):
        return '<span class="warn">not available</span>'
    css, word = ("good", "within") if abs(difference) <= tolerance else ("bad", "outside")
    return f'{readable(difference, 2)}<small class="{css}">{word} {readable(tolerance, 2)}</small>'


# --- charts -----------------------------------------------------------------------------------------------------


def _card(title: str, content: str) -> str:
    return f'<figure class="card"><h3>{escape(title)}</h3>{content}</figure>'


def _charts(result: Result, panels: Sequence[Panel]) -> str:
    if len(result.t) == 0 or not panels:
        return ""
    windows = {panel.window: Quantities(result, panel.window) for panel in panels}
    cards = "".join(_chart(windows[panel.window], panel, panel.title) for panel in panels)
    return _section("Motion and forces", f'<div class="charts">{cards}</div>')


def _chart(quantities: Quantities, panel: Panel, title: str) -> str:
    """A panel that asks for what there is not says so in its place; the rest of the page is worth having."""
    try:
        curves = [Curve(label, *quantities.curve(quantity)) for label, quantity in panel.curves]
    except ModelError as error:
        return _card(title, f'<p class="bad">{escape(str(error))}</p>')
    return _card(title, line_chart(curves, unit=panel.unit, label=f"{panel.title}, {title}"))


def _side_by_side(variants: Mapping[str, Result], panels: Sequence[Panel]) -> str:
    """One row of charts per panel, one chart per run."""
    windows = {
        (label, panel.window): Quantities(result, panel.window)
        for label, result in variants.items()
        for panel in panels
    }
    return "\n".join(
        _section(
            panel.title,
            '<div class="charts">'
            + "".join(_chart(windows[label, panel.window], panel, label) for label in variants)
            + "</div>",
        )
        for panel in panels
    )


def _finding(finding: FindingInfo) -> str:
    cells = [[escape(cell) for cell in row] for row in finding.rows]
    table = _table(finding.columns, cells, finding.numbers) if cells else ""
    cards = "".join(
        _card(
            lines.title,
            line_chart(
                [Curve(label, np.asarray(x), np.asarray(y), label in lines.dashed) for label, x, y in lines.curves],
                unit=lines.unit,
                label=lines.title,
                is_log=lines.is_log,
                across=lines.across,
                across_unit=lines.across_unit,
            ),
        )
        for lines in finding.charts
    )
    charts = f'<div class="charts">{cards}</div>' if cards else ""
    return _section(finding.title, f"<p>{escape(finding.text)}</p>\n{table}\n{charts}")


def _beams(result: Result) -> str:
    charts = [_card(title, svg) for title, svg in beam_charts(result)] if len(result.t) else []
    return _section("Along the beams", f'<div class="charts">{"".join(charts)}</div>' if charts else "")


def _energies(quantities: Quantities) -> str:
    result = quantities.result
    if len(result.t) == 0 or "kinetic" not in result.energy:
        return ""
    names = [name for name in result.energy if np.any(result.energy[name])]
    stored = [name for name in names if not name.startswith("work_")]
    works = [name for name in names if name.startswith("work_")]
    names = [*stored, *(["total"] if len(stored) > 1 else []), *works]
    curves = [Curve(name.replace("_", ": "), *quantities.curve(name), name.startswith("work_")) for name in names]
    error = [Curve("unexplained share", result.t, np.maximum(quantities.energy_error, ROUNDING))]
    charts = [
        _card("Energies and works", line_chart(curves, unit="J", label="Energies and works")),
        _card("Energy error, relative", line_chart(error, label="Relative energy error", is_log=True)),
    ]
    return _section("Energy balance", f'<div class="charts">{"".join(charts)}</div>')


# --- events and contacts ----------------------------------------------------------------------------------------


def _more(count: int) -> str:
    return f'<p class="note">The first {MOST_ROWS} of {count}.</p>' if count > MOST_ROWS else ""


def _events(result: Result) -> str:
    """Begin and end of contacts have a table of their own."""
    touching = {f"{row['contact']}: {row['point']}" for row in result.contacts}
    events = [event for event in result.events if event.name not in touching]
    if not events:
        return ""
    rows = [[escape(event.name), f"{event.t:.9g} s", escape(event.direction)] for event in events[:MOST_ROWS]]
    return _section("Events", _table(("event", "time", "direction"), rows, (1,)) + _more(len(events)))


CONTACT_COLUMNS = {
    "t_start": "start [s]",
    "t_end": "end [s]",
    "v_in": "in [m/s]",
    "v_out": "out [m/s]",
    "peak_normal": "peak force [N]",
    "impulse": "impulse [N s]",
    "work": "work [J]",
    "restitution_delivered": "restitution",
    "restitution_requested": "asked for",
}


def _contacts(result: Result) -> str:
    if len(result.contacts) == 0:
        return ""
    rows = [
        [escape(row["contact"]), escape(row["point"]), *(_touch(float(row[name])) for name in CONTACT_COLUMNS)]
        for row in result.contacts[:MOST_ROWS]
    ]
    columns = ("contact", "point", *CONTACT_COLUMNS.values())
    return _section("Contacts", _table(columns, rows, range(2, len(columns))) + _more(len(result.contacts)))


def _touch(value: float) -> str:
    """What only the end of a contact tells is left open while it lasts."""
    return "-" if np.isnan(value) else readable(value, 6)


# --- truth ------------------------------------------------------------------------------------------------------


def _truth(result: Result, settings: Mapping[str, Any], table: Mapping[str, SettingInfo]) -> str:
    audit = [_audit_row(name, value) for name, value in result.audit.items()]
    stats = [_named(name, value, STATS) for name, value in result.stats.items()]
    options = [_named(name, value, OPTIONS) for name, value in result.settings.items() if value is not None]
    options.append(["version of pliant", escape(__version__)])
    given = [
        _setting_row(name, value, table.get(name)) for name, value in settings.items() if name not in result.settings
    ]
    content = _table(("check", "value", "what it says"), audit, (1,)) if audit else ""
    blocks = [("How it was run", options), ("What it took", stats), ("Settings", given)]
    cards = "".join(f"<div><h3>{title}</h3>{_table(('', ''), rows, (1,))}</div>" for title, rows in blocks if rows)
    return _section("What one may believe", f'{content}\n<div class="pairs" style="margin-top:16px">{cards}</div>')


def _audit_row(name: str, value: float) -> list[str]:
    meaning, unit = AUDIT.get(name, ("", ""))
    if name.endswith("_residual") and 0 < value < 1:
        meaning += f" Here: about one part in {power_of_ten(int(np.floor(-np.log10(value))))}."
    return [f"<code>{escape(name)}</code>", _with_unit(float(value), unit, 2), escape(meaning)]


def _named(name: str, value: Any, words: Mapping[str, tuple[str, str]]) -> list[str]:
    label, unit = words.get(name, (name.replace("_", " "), ""))
    return [escape(label), _seconds(float(value)) if name.endswith("_s") else _with_unit(value, unit)]


def _setting_row(name: str, value: Any, info: SettingInfo | None) -> list[str]:
    help_words = f"<small>{escape(info.help)}</small>" if info and info.help else ""
    return [f"<code>{escape(name)}</code>{help_words}", _with_unit(value, info.unit if info else "")]
