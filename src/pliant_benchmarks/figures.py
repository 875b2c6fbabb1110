"""What a line of the benchmarks finds: times, ratios and goals; as a table and as a file."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pliant.console import print_table
from pliant.files import write_whole
from pliant.io.result_file import plain
from pliant_benchmarks.peers import PACKAGES

Say = Callable[[str], None]  # progress of a line
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (0.0, "ns"))


@dataclass(frozen=True)
class Figure:
    """One row: who, how long, its ratio to what the goal names, and the goal."""

    who: str
    seconds: float | None = None
    ratio: float | None = None
    goal: float | None = None
    is_least: bool = False  # the goal is the least ratio allowed, not the largest
    error: float | None = None
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        if self.ratio is None or self.goal is None:
            return None
        return bool(self.ratio >= self.goal if self.is_least else self.ratio <= self.goal)

    def cells(self) -> tuple[str, ...]:
        sign = ">=" if self.is_least else "<="
        return (
            self.who,
            "" if self.seconds is None else shown_time(self.seconds),
            "" if self.ratio is None else f"{self.ratio:.3g}",
            "" if self.goal is None else f"{sign} {self.goal:g}",
            {True: "yes", False: "NO", None: ""}[self.is_met],
            "" if self.error is None else f"{self.error:.1e}",
            self.note,
        )


def shown_time(seconds: float) -> str:
    scale, unit = next((row for row in SCALES if seconds >= row[0]), SCALES[-1])
    return f"{seconds / (scale or 1e-9):.4g} {unit}"


def missing(who: str, error: Exception) -> Figure:
    return Figure(who, note=str(error))


def print_figures(found: Mapping[str, Sequence[Figure]]) -> None:
    rows = [(name if i == 0 else "", *figure.cells()) for name, some in found.items() for i, figure in enumerate(some)]
    print_table(("line", "who", "time", "ratio", "goal", "met", "error", "how"), rows)
    judged = [figure.is_met for some in found.values() for figure in some if figure.is_met is not None]
    print(f"{sum(judged)} of {len(judged)} goals are met")


def machine() -> dict[str, Any]:
    return {"cpu": _cpu(), "cores": os.cpu_count(), "system": platform.platform(), "load": _load()}


def _cpu() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _load() -> list[float]:
    return list(os.getloadavg()) if hasattr(os, "getloadavg") else []


def versions() -> dict[str, str]:
    from pliant import __version__

    found = {"pliant": __version__, "python": platform.python_version()}
    for package in ("numba", "numpy", "scipy", *PACKAGES.values()):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def save_figures(
    path: Path, found: Mapping[str, Sequence[Figure]], goals: Mapping[str, str], ready_s: float, status: str
) -> None:
    """Everything as JSON; the file appears whole. status: how far the bench came."""
    lines = {
        name: {"goal": goals[name], "figures": [{**asdict(figure), "is_met": figure.is_met} for figure in some]}
        for name, some in found.items()
    }
    facts = {
        "status": status,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": versions(),
        "kernels_ready_s": ready_s,
        "lines": lines,
    }
    write_whole(path, json.dumps(plain(facts), indent=2, allow_nan=False) + "\n")
