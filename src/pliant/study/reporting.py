"""The page of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant.study.runs import StudyRuns


def write_study_page(runs: StudyRuns, path: Path) -> None:
    path.write_text("")
