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
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
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


def make_folder(folder: Path) -> None:
    """A folder that exists or can be made and written, or a message."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_writable = os.access(folder, os.W_OK)
    except OSError as error:
        raise ModelError(f"--out {folder}: {error.strerror or error}; name a folder that can be written") from None
    if not is_writable:
        raise ModelError(f"--out {folder}: no permission to write there; name another folder")


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
