"""Files appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pliant.errors import ModelError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`; it takes the place of `path` when the block ends without error."""
    if os.path.isdir(path):  # unlike Path.is_dir, whatever the name
        raise ModelError(f"{path}: this is a folder; name a file")
    try:
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


def write_whole(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def check_writable(path: Path, option: str = "--out") -> None:
    """Before a long computation: a file that can be written, its folder made, or a message; `path` stays as it is."""
    make_folder(path.parent, option)
    if os.path.exists(path) and not os.path.isfile(path):
        found = "a folder" if os.path.isdir(path) else "no regular file"
        raise ModelError(f"{option} {path}: this is {found}; name a file")
    try:
        with tempfile.NamedTemporaryFile(prefix=f".{path.name}.", dir=path.parent):
            pass
    except OSError as error:
        raise ModelError(f"{option} {path}: {error.strerror or error}; name a file that can be written") from None


def make_folder(folder: Path, option: str = "--out") -> None:
    """A folder that exists or can be made and written, or a message about the option that names it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_writable = os.access(folder, os.W_OK)
    except OSError as error:
        reason = "this is a file" if isinstance(error, FileExistsError) else error.strerror or str(error)
        raise ModelError(f"{option} {folder}: {reason}; name a folder that can be written") from None
    if not is_writable:
        raise ModelError(f"{option} {folder}: no permission to write there; name another folder")


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
