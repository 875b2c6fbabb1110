"""Files that others wrote, looked at before they are read: pipes and devices could be endless, other files huge."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pliant.errors import ModelError

MAX_TEXT = 20_000_000  # bytes of a model file, a robot file or a mesh that is text
MAX_BYTES = 100_000_000  # of a mesh or a picture that is not


def read_plain(path: Path, most: int = MAX_TEXT) -> bytes:
    """What a file holds, read once; OSError if it cannot be opened."""
    check_plain(path, most)
    # by now it may be another one: a pipe is opened without waiting, and looked at again
    with open(path, "rb", opener=_without_waiting) as file:
        _check(path, os.fstat(file.fileno()), most)
        data = file.read(most + 1) or b""
    if len(data) > most:
        raise ModelError(f"{path}: the file grows while it is read; let it be finished first")
    return data


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def check_plain(path: Path, most: int = MAX_TEXT) -> None:
    """Refuses what is no plain file, or a huge one; OSError if there is none."""
    _check(path, path.stat(), most)


def _check(path: Path, found: os.stat_result, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(21, "it is a folder", str(path))
    if not stat.S_ISREG(found.st_mode):
        raise ModelError(f"{path}: this is a pipe or a device; write what it gives to a file and name that")
    if found.st_size > most:
        raise ModelError(f"{path}: the file has {found.st_size} bytes; no file of its kind is larger than {most}")
