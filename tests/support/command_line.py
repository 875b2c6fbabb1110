"""The pliant command inside this process: what a user sees, without the cost of starting another Python."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from pliant.command.cli import main


class Done(NamedTuple):
    """As subprocess.run would say it."""

    returncode: int
    stdout: str
    stderr: str


def pliant_command(*words: str, cwd: Path | None = None, variables: dict[str, str] | None = None) -> Done:
    """Run `pliant WORDS` through its entry point, in the folder `cwd`, with these variables of the environment."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: object = "main returned without an exit code"
    with (
        contextlib.chdir(cwd or os.curdir),
        mock.patch.object(sys, "argv", ["pliant", *words]),
        mock.patch.dict(os.environ, variables or {}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")  # as in a process of its own, where they are no errors
        try:
            main()
        except SystemExit as end:
            code = end.code
    stdout, stderr = (stream.buffer.getvalue().decode("utf-8") for stream in (out, err))  # type: ignore[attr-defined]
    assert isinstance(code, int), code
    return Done(code, stdout, stderr)
