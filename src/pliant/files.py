"""Files appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pliant.errors import ModelError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`; it takes the place of `path` when the block ends without error."""
    try:
        if path.is_dir():
            raise ModelError(f"{path}: this is a folder; name a file")
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        reason = "there is no such folder" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        raise ModelError(f"{path}: the file cannot be written ({reason}); choose another place") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def as_path(path: Any, what: str = "path") -> Path:
    """The place of a file, or a message."""
    try:
        place = Path(path)
        if "\0" not in str(place):
            return place
    except Exception:  # what a caller's objects do when pathlib looks at them
        pass
    raise ModelError(f"{what}: {_named(path)} found; give the name of a file, which has no null characters")


def _named(value: Any) -> str:
    return repr(value[:60]) if isinstance(value, (str, bytes)) else f"<{type(value).__name__}>"


def write_whole(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def make_folder(folder: Path, option: str = "--out") -> None:
    """A folder that exists or can be made and written, or a message about the option that names it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_writable = os.access(folder, os.W_OK)
    except OSError as error:
        raise ModelError(f"{option} {folder}: {error.strerror or error}; name a folder that can be written") from None
    if not is_writable:
        raise ModelError(f"{option} {folder}: no permission to write there; name another folder")


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
