"""report.html: one page with the moving robot, charts, figures and their accuracy. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.util import find_spec
from os.path import relpath, sep
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pliant import __version__
from pliant.errors import ModelError
from pliant.files import write_whole
from pliant.report_types import Figure, Finding, Panel
from pliant.results.recording import Recording
from pliant.view.arrays import Arrays, script_json
from pliant.view.charts.chart_data import ChartBook
from pliant.view.charts.run_charts import run_charts
from pliant.view.page.accuracy import SettingInfo, accuracy_section, setting_row, settings_section
from pliant.view.page.comparison import comparison_section
from pliant.view.page.events import contacts_section, events_section
from pliant.view.page.figure_table import figures_section
from pliant.view.page.film import film
from pliant.view.page.findings import finding_section
from pliant.view.page.heading import describe, outcome, run_mark, study_outcome
from pliant.view.page.html import of_run
from pliant.view.svg import stylesheet

MAX_RUNS = 6  # of several, that can be played
FILM_ROOM = 1_000_000  # bytes of all films before they are written as text
HEAD = 200  # characters of plotly.js within which it says its name
PAGE = Path(__file__).with_name("assets")
SCRIPTS = (  # in the order in which they stand on each other
    "data", "theme", "pose", "camera", "shapes", "robot", "surroundings", "marks", "names", "axes", "charts", "clock",
    "runs", "player", "controls", "keys", "main",
)  # fmt: skip
# nothing may be fetched from anywhere, whatever the page holds
POLICY = "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:"


def write_report(
    result: Recording,
    path: str | Path,
    *,
    title: str = "",
    figures: Mapping[str, float] | None = None,
    panels: Sequence[Panel] | None = None,
    settings: Mapping[str, Any] | None = None,
    figure_table: Mapping[str, Figure] | None = None,
    setting_table: Mapping[str, SettingInfo] | None = None,
    description: str = "",
    compares: bool = True,
    variants: Mapping[str, Recording] | None = None,
    findings: Sequence[Finding] = (),
    moment: float | None = None,
    enlarge: float | None = None,
    plotly: Path | None = None,
) -> None:
    """Write the page of a run.

    panels: charts as data, shown before coordinates, rates, outputs and energies. figure_table and setting_table say
    what names mean. compares=False leaves out expected values (they hold at a case's default settings only).
    variants: runs to be shown beside each other, by label; findings: what they say together.

    moment, enlarge: where the film stands at first, and the factor on the deformation of beams. plotly: a file with the
    script that draws charts, for several pages to share; it is written where it is missing. None: it is in the page."""
    heading = title or result.model.name
    runs = dict(list((variants or {"": result}).items())[:MAX_RUNS])
    arrays = Arrays()
    book = ChartBook()
    films = [film(run, arrays, FILM_ROOM // len(runs)) for run in runs.values()]
    charts = [of_run(k, run_charts(run, panels, book, k)) for k, run in enumerate(runs.values())]
    content = [
        f'<header>\n<h1>{escape(heading)}</h1>\n<p class="lead">{escape(description or describe(result))}</p>',
        study_outcome(variants) if variants else "",
        *(of_run(k, outcome(run, label)) for k, (label, run) in enumerate(runs.items())),
        "</header>",
        _stage("\n".join(charts), any(films)),
        *(finding_section(finding, book) for finding in findings),
        figures_section(figures or {}, figure_table or {}, compares),
        *(of_run(k, contacts_section(run) + events_section(run)) for k, run in enumerate(runs.values())),
        comparison_section(variants, panels or (), book) if variants else "",
        *(
            of_run(k, accuracy_section(run, settings or {}, setting_table or {}))
            for k, run in enumerate(runs.values())
        ),
    ]  # fmt: skip
    drawn, most = book.data(arrays)
    data = {
        "runs": [
            {"label": label, "mark": run_mark(run), "film": shown}
            for (label, run), shown in zip(runs.items(), films, strict=True)
        ],
        "choice": "Run",
        "left_out": len(variants) - len(runs) if variants else 0,
        "charts": drawn,
        "points": most,
        "arrays": arrays.texts,
        "moment": moment,
        "enlarge": enlarge,
        "title": heading,
    }
    write_whole(Path(path), whole_page(Path(path), heading, content, data, plotly))


def write_findings(path: str | Path, findings: Sequence[Finding], **contents: Any) -> None:
    """Write a page of findings alone; contents: as of findings_page."""
    write_whole(Path(path), findings_page(findings, path=Path(path), **contents))


def findings_page(
    findings: Sequence[Finding],
    *,
    title: str,
    description: str,
    settings: Mapping[str, Any],
    setting_table: Mapping[str, SettingInfo],
    films: Mapping[str, Recording] | None = None,
    plotly: Path | None = None,
    path: Path | None = None,
) -> str:
    """A page of findings alone: many small runs, none of them worth a report of its own.

    films: motions to be played beside the first finding, by label. plotly: as in write_report, with the path of
    the page."""
    arrays, book = Arrays(), ChartBook()
    head = f'<header>\n<h1>{escape(title)}</h1>\n<p class="lead">{escape(description)}</p>\n</header>'
    given = [setting_row(name, value, setting_table.get(name)) for name, value in settings.items()]
    runs = [
        {"label": label, "mark": "", "film": film(run, arrays, FILM_ROOM // len(films or ()))}
        for label, run in (films or {}).items()
    ]
    sections = [finding_section(each, book) for each in findings]
    if runs:
        sections[:1] = [_stage("".join(sections[:1]), True, "stage even")]
    content = [head, *sections, settings_section(given)]
    data = {"runs": runs, "choice": "Show", "charts": book.data(arrays)[0], "arrays": arrays.texts, "title": title}
    return whole_page(path, title, content, data, plotly)


def _stage(charts: str, has_film: bool, css: str = "stage") -> str:
    """The player beside the charts."""
    player = (PAGE / "player.html").read_text(encoding="ascii") if has_film else ""
    if not player and not charts:
        return ""
    return f'<div class="{css}">\n{player}\n<div class="beside">\n{charts}\n</div>\n</div>'


def plotly_script() -> str:
    """The text of plotly.js, which the plotly package brings along; the package itself is not imported."""
    found = find_spec("plotly")
    path = Path(found.origin).parent / "package_data" / "plotly.min.js" if found and found.origin else None
    if path is None or not path.is_file():
        raise ModelError("the report page needs the package plotly, which is not installed: pip install plotly")
    return path.read_text(encoding="utf-8")


def check_shared_script(path: Path) -> None:
    """Refuse a file for the script that pages share which is something else."""
    if path.suffix != ".js":
        raise ModelError(f"plotly {path}: no name of a script; name it .js, as in plotly.min.js")
    if path.is_file() and "plotly.js" not in path.read_text(encoding="utf-8", errors="replace")[:HEAD]:
        raise ModelError(f"plotly {path}: this file is there, and no plotly.js; name another")


def whole_page(
    path: Path | None,
    title: str,
    content: Sequence[str],
    data: Mapping[str, Any],
    plotly: Path | None,
    scripts: Sequence[str] = SCRIPTS,
) -> str:
    """The page with its scripts; where pages share the script of charts and it is missing, it is written."""
    source, script = "'unsafe-inline'", ""
    if data["charts"] and plotly is not None and path is not None:
        check_shared_script(plotly)
        if not plotly.is_file() or plotly.read_text(encoding="utf-8") != plotly_script():
            write_whole(plotly, plotly_script())
        address = quote(relpath(plotly.resolve(), path.resolve().parent).replace(sep, "/"))
        source, script = "'unsafe-inline' 'self' file:", f'<script src="{escape(address)}"></script>\n'
    elif data["charts"]:
        inside = plotly_script().replace("</script", "<\\/script")
        script = f"<script>{inside}</script>\n"
    return _page(title, "\n".join(part for part in content if part), data, source, script, scripts)


def _page(title: str, content: str, data: Mapping[str, Any], source: str, plotly: str, scripts: Sequence[str]) -> str:
    own = "\n".join((PAGE / f"{name}.js").read_text(encoding="ascii") for name in scripts)
    style = stylesheet("colours.css") + (PAGE / "page.css").read_text(encoding="ascii")
    files = "two files, this one and the script of its charts" if plotly.startswith("<script src") else "one file"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(source)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} - pliant</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        '<noscript><p class="status warn"><strong>No script.</strong> <span>The moving robot and the charts need '
        "JavaScript; figures, tables and checks below do not.</span></p></noscript>\n"
        f"{content}\n<footer>Made by pliant {escape(__version__)}. This page is {files}; it needs no network."
        f'</footer>\n</main>\n<script type="application/json" id="data">{script_json(data)}</script>\n{plotly}'
        f'<script>\n"use strict";\n(() => {{\n{own}\n}})();\n</script>\n</body>\n</html>\n'
    )
