"""The short summary of a run in the terminal: how it ended, figures, contacts, accuracy, files."""

from __future__ import annotations

from typing import Any

from pliant.console import print_table, short

MAX_FIGURES = 16  # printed
MAX_ROWS = 30  # of a table of findings; the page has all
MAX_CONTACTS = 12


def print_outcome(outcome: Any) -> None:
    """The short summary: how it ended, the figures, their accuracy, the files."""
    result, table = outcome.result, outcome.figure_table
    print(
        f"{outcome.job.title}: {result.status} at t = {result.t[-1]:g} s"
        + (f" ({result.reason})" if result.reason else "")
    )
    rows: list[tuple[str, ...]] = []
    others: list[tuple[str, ...]] = []
    for key, value in outcome.figures.items():
        row = table.get(key)
        note = ""
        if row is not None and row.expected is not None and outcome.is_default:
            note = "as expected" if abs(value - row.expected) <= row.tolerance else f"EXPECTED {short(row.expected)}"
        (rows if len(rows) < MAX_FIGURES else others).append((key, short(value), row.unit if row else "", note))
    print_table(("figure", "value", "unit", ""), rows)
    if others:
        expected = sum(note == "as expected" for *_, note in others)
        known = f", {expected} of them as expected" if expected else ""
        print(f"and {len(others)} more figures in summary.json{known}")
        print_table(("figure", "value", "unit", ""), [row for row in others if row[-1].startswith("EXPECTED")])
    _print_contacts(result)
    stats = result.stats
    for finding in outcome.findings:
        if finding.rows:
            print(f"{finding.title}: {finding.text}" if finding.text else finding.title)
        if len(finding.rows) <= MAX_ROWS:
            print_table(finding.columns, finding.rows)
    for words in (*result.warnings, *outcome.other_warnings):
        print(f"warning: {words}")
    print("audit: " + ", ".join(f"{key} {value:.1e}" for key, value in result.audit.items()))
    print(
        f"{result.settings['formulation']} + {result.settings['integrator']}: {stats['steps']} steps, "
        f"{stats['evaluations']} evaluations, {stats['events']} events, {1e3 * stats['wall_s']:.1f} ms"
    )
    print(f"written: {outcome.job.out}/report.html, summary.json, result.nc")


def print_certificate(outcome: Any) -> None:
    """Figures with the digits that are right, what is to be said of them, the files."""
    found, result = outcome.certificate, outcome.result
    print(f"{outcome.job.title}: {result.status} at t = {result.t[-1]:g} s")
    print_table(found.columns, found.table())
    for note in found.notes:
        print(f"note: {note}")
    for words in result.warnings:
        print(f"warning: {words}")
    print(f"written: {outcome.job.out}/report.html, summary.json, result.nc")


def _print_contacts(result: Any) -> None:
    """The first contacts; all are in the files."""
    shown = result.contacts[:MAX_CONTACTS]
    print_table(shown.head(), shown.rows())
    if len(result.contacts) > len(shown):
        print(f"the first {len(shown)} of {len(result.contacts)} contacts\n")
