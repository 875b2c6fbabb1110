"""A study as data for its page."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.study.base import CaseOrFile
from pliant.view.page.study_page import StudyColumn
from pliant.view.page.study_page import write_study_page as write_page

if TYPE_CHECKING:
    from pliant.study.runs import StudyRuns


def write_study_page(runs: StudyRuns, path: Path) -> None:
    """report.html."""
    columns = [
        StudyColumn(
            each.name,
            runs.base.unit(each.name) if isinstance(runs.base, CaseOrFile) else "",
            runs.codes[:, k],
            False,
            () if each.is_number else tuple(map(str, each.values)),
            each.kind == "log",
        )
        for k, each in enumerate(runs.parameters)
    ]
    columns += [
        StudyColumn(figure.label, figure.unit, runs.chunk.figures[:, k], True) for k, figure in enumerate(runs.figures)
    ]
    names = ", ".join(f"{each.name} ({each.words if len(each.words) < 40 else 'list'})" for each in runs.parameters)
    left = "" if runs.is_complete else f" {runs.count - len(runs)} of {runs.count} rows have not been run yet."
    command = runs.base.command({}) if isinstance(runs.base, CaseOrFile) else ""
    again = ""
    if runs.folder and isinstance(runs.base, CaseOrFile):
        again = f"pliant sweep --out {shlex.quote(str(runs.folder))}{' --trust' * runs.base.trust} --report"
    write_page(
        path,
        f"{runs.name}: {runs.count} runs",
        f"Study by {runs.method} over {names}.{left}",
        columns,
        runs.rows,
        runs.notes,
        ~runs.is_ok,
        (command, again),
        runs.findings(),
    )
