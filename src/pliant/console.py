"""What the commands show: tables and a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def print_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """A plain table that wraps to the terminal."""
    if not rows:
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(*head, box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False, highlight=False, soft_wrap=False)
    if not sys.stdout.isatty():
        console.width = 160
    console.print(table)
    print()


def short(value: Any) -> str:
    """A value in a table."""
    if isinstance(value, float):
        return f"{value:.10g}"
    return "" if value is None else str(value)


@contextmanager
def progress_bar(title: str, is_shown: bool, now: str = "t = {:.3g} of {:g} s") -> Iterator[Any]:
    """A bar for runs that last; short ones never see it. now: how far it is, of how far. It is told by a function
    report(t, end, more words)."""
    if not is_shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[now]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0, now="", visible=False)

        def report(t: float, end: float, more: str = "") -> None:
            bar.update(task, completed=t / end, now=now.format(t, end) + more, visible=True, refresh=True)

        yield report
