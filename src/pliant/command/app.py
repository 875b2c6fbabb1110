"""The command `pliant` itself, and what its parts share: arguments, options, KEY=VALUE."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from pliant.command.completion import complete_case, complete_setting
from pliant.errors import ModelError

app = typer.Typer(
    name="pliant",
    help="Simulate robots whose links bend and which hit things, on the ground and in space.\n\n"
    "To begin:  pliant run falling-chain  and open its report.html;  pliant new robot.toml  for a model of your own.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)

lab = typer.Typer(
    help="Experiments on methods: what a law or an integrator does by itself.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(lab, name="lab", short_help="experiments on laws of contact and on integrators")

CaseArgument = Annotated[
    str,
    typer.Argument(
        metavar="CASE_OR_FILE", help="a built-in case, or a file (.toml, .urdf, .xml)", autocompletion=complete_case
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="set a key of the case or robot, or an option of the run; may be repeated",
        autocompletion=complete_setting,
    ),
]
KeyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="set a key (the end of the output lists them); may be repeated",
        autocompletion=complete_setting,
    ),
]  # fmt: skip
TrustOption = Annotated[
    bool, typer.Option("--trust", help="let the controllers of a file run: Python code in its folder")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")]


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings as one line each, without the place in the code that they come from."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: print(f"pliant: {message}", file=sys.stderr)
        yield


def parse_assignments(texts: list[str]) -> dict[str, str]:
    """KEY=VALUE texts as a dictionary."""
    values: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ModelError(f"--set {text!r}: no key and value found; write --set KEY=VALUE, as in --set rtol=1e-10")
        if key.strip() in values:
            raise ModelError(f"--set {key.strip()}: given twice; give it once")
        values[key.strip()] = value.strip()
    return values
