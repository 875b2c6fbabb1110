"""What the shell may complete: cases, keys with their values, methods, kinds. Nothing heavy is loaded."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

Items = list[tuple[str, str]]  # words and what they mean


def complete_case(incomplete: str) -> Items:
    """Built-in cases; where none fits, the shell completes files."""
    from pliant.cases.case import all_cases

    return _fitting(((case.name, case.title) for case in all_cases().values()), incomplete)


def complete_kind(incomplete: str) -> Items:
    """Kinds of templates."""
    from pliant.command.templates import KINDS

    return _fitting(KINDS.items(), incomplete)


def complete_method(incomplete: str) -> Items:
    """Methods and laws."""
    from pliant.methods import FAMILIES

    return _fitting(((row.name, row.summary) for table in FAMILIES.values() for row in table), incomplete)


def complete_setting(context: typer.Context, incomplete: str) -> Items:
    """KEY=VALUE for --set of the command at hand: every choice of a key, or its default to begin with."""
    if context.info_name == "modes":
        from pliant.lab import modes

        return _fitting(_assignments(modes.SETTINGS), incomplete)
    if context.info_name == "contact":
        from pliant.lab import contact

        return _fitting(_assignments(contact.SETTINGS), incomplete)
    if context.info_name == "integrators":
        from pliant.lab import integrators

        return _fitting(_assignments(integrators.SETTINGS), incomplete)
    from pliant.cases.case import all_cases
    from pliant.cases.chosen_run import RUN_SETTINGS

    # an option without its value, as --set is here, leaves the words before it unread
    given = context.params.get("case_or_file"), *(context.params.get("cases_or_files") or ())
    words = [*(str(word or "") for word in given), *context.args]
    case = next((all_cases()[word] for word in words if word in all_cases()), None)
    own = dict(_assignments(case.settings)) if case else {}
    files = [word for word in words if word.endswith(".toml")]
    if case is None:
        own = dict(_parameter_assignments(files[0]) if files else _robot_assignments())
    if context.info_name in ("compare", "transfer"):
        return _fitting(own.items(), incomplete)
    taken = case.settings if case else {}
    options = dict(_assignments({key: row for key, row in RUN_SETTINGS.items() if key not in taken}))
    return _fitting({**own, **options}.items(), incomplete)


def _fitting(items: Iterable[tuple[str, str]], incomplete: str) -> Items:
    return [(word, meaning) for word, meaning in items if word.startswith(incomplete)]


def _assignments(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, row in settings.items():
        meaning = row.help + (f" [{row.unit}]" if row.unit else "")
        for value in row.choices or (row.default,):
            yield f"{key}={_word(value)}", meaning


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _robot_assignments() -> Iterator[tuple[str, str]]:
    from pliant.io.robot_settings import RobotSettings

    hints = get_type_hints(RobotSettings)
    for field in fields(RobotSettings):  # type: ignore[arg-type]
        default = "0,0,-9.81" if field.default is None else _word(field.default)
        choices = [word for word in get_args(hints[field.name]) if isinstance(word, str)]
        for word in choices or [default]:
            yield f"{field.name}={word}", "how the robot file is read"


def _parameter_assignments(file: str) -> Iterator[tuple[str, str]]:
    from pliant.errors import PliantError
    from pliant.io.parameters import KEY
    from pliant.io.toml import parse_file

    with contextlib.suppress(PliantError, AttributeError):
        for name, value in parse_file(Path(file)).get(KEY, {}).items():
            yield f"{name}={_word(value)}", "a parameter of the file"


# --- bash -------------------------------------------------------------------------------------------------------


def in_bash(app: Callable[[], Any], environment: MutableMapping[str, str]) -> None:
    """Answer bash, which takes `modes=c` for the three words `modes`, `=`, `c` and wants the last one completed."""
    known = join_words(environment)
    answer = io.StringIO()
    try:
        with contextlib.redirect_stdout(answer):
            app()
    finally:
        for line in answer.getvalue().splitlines():
            print(line.removeprefix(known))


def join_words(environment: MutableMapping[str, str]) -> str:
    """Put `KEY`, `=`, `VALUE` together again; gives back what bash has already of the word to complete, as `modes=`."""
    words, cursor = environment["COMP_WORDS"].split("\n"), int(environment["COMP_CWORD"])
    words += [""] * (cursor + 1 - len(words))
    joined: list[str] = []
    known, place = "", cursor
    for index, word in enumerate(words):
        if joined and (word == "=" or joined[-1].endswith("=")) and index <= cursor + 1 and joined[-1][:1] != "-":
            joined[-1] += word
        else:
            joined.append(word)
        if index == cursor:
            place = len(joined) - 1
            known = joined[-1].partition("=")[0] + "=" if "=" in joined[-1] else ""
    environment["COMP_WORDS"], environment["COMP_CWORD"] = "\n".join(joined), str(place)
    return known
