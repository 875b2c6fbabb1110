"""What `pliant cases` and `pliant methods` list."""

from __future__ import annotations

from typing import Any

from pliant.console import print_table, short
from pliant.errors import ModelError


def print_cases() -> None:
    """All built-in cases."""
    from pliant.cases.case import all_cases

    print_table(("case", "what", "source"), [(case.name, case.title, case.source) for case in all_cases().values()])
    print("pliant cases NAME shows its keys and figures; pliant run NAME runs it.")


def print_case(name: str) -> None:
    """The keys of a case and the figures that it reports."""
    from pliant.cases.chosen_run import RUN_SETTINGS
    from pliant.cases.loading import find_case
    from pliant.engine.run_options import RUN_OPTIONS, usual_atol

    case = find_case(name)
    if case is None:
        raise ModelError(f"{name!r} names a file, not a case; pliant run {name} runs it")
    print(f"{case.name}: {case.title} ({case.source})\n")
    print_table(
        ("key", "default", "unit", "what"), [_setting_row(key, row, row.default) for key, row in case.settings.items()]
    )
    duration = case.build(case.resolve({})).duration
    defaults = {key: row.default or "off" for key, row in RUN_SETTINGS.items()}
    defaults |= {name: option.shown_default for name, option in RUN_OPTIONS.items()}
    defaults |= {
        "duration": duration,
        "atol": usual_atol(case.run.get("rtol", RUN_OPTIONS["rtol"].default)),
        **case.run,
    }
    rows = [_setting_row(key, row, defaults[key]) for key, row in RUN_SETTINGS.items()]
    print_table(("option of the run", "default", "unit", "what"), rows)
    figures = [(key, row.unit, short(row.expected), row.help) for key, row in case.figure_table.items()]
    print_table(("figure", "unit", "expected", "what"), figures)


def _setting_row(key: str, row: Any, default: Any) -> tuple[str, ...]:
    choices = f" ({', '.join(map(str, row.choices))})" if row.choices else ""
    return key, short(default), row.unit, row.help + choices


def print_methods() -> None:
    """All methods and laws."""
    from pliant.methods import AUTO, FAMILIES

    defaults = {getattr(method(), "first", method).name for method in AUTO.values()}
    for family, table in FAMILIES.items():
        rows = [
            (
                row.name + (" *" if row.name in defaults else ""),
                row.summary,
                row.cost,
                ", ".join(sorted(row.supports)),
                row.reference,
            )
            for row in table
        ]
        print_table((family, "what", "cost", "supports", "reference"), rows)
    print('* what "auto" chooses (and ark5 or radau while they cost less); references are in docs/bibliography.md')


def print_method(name: str) -> None:
    """One method or law: what it supports, who invented it, its parameters."""
    from pliant.methods import FAMILIES
    from pliant.methods.citations import CITATIONS
    from pliant.model.messages import closest

    found = {row.name: row for table in FAMILIES.values() for row in table}
    if name not in found:
        raise ModelError(f"{name!r} is no method{closest(name, found) or ';'} pliant methods lists them all")
    row = found[name]
    print(f"{row.family} {name}, in Python pliant.{row.__name__}: {row.summary}")
    print(f"supports: {', '.join(sorted(row.supports)) or 'nothing more'}\nreference: {CITATIONS[row.reference]}\n")
    rows = [
        (
            each.key,
            "needed" if each.is_needed else short(each.default),
            each.unit,
            ", ".join(each.choices) or ("" if isinstance(each.default, bool) else each.range_words),
            each.words,
        )
        for each in row.parameters()
    ]
    print_table(("parameter", "default", "unit", "allowed", "what"), rows)
