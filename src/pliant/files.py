"""Files appear whole or not at all, alone or as a set. A full disk ends in one sentence, and what was there is kept."""

from __future__ import annotations

import errno
import io
import os
import platform
import re
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from pliant.errors import ModelError, PliantError, SimulationError

OLD = 86400.0  # [s] a temporary file of this age is nobody's
TEMPORARY = re.compile(r"\.pliant-([0-9a-f]{8})-([0-9]+)-")  # machine, process
# a name or a place that another choice mends; all else is a breakdown
MISTAKES = (
    errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG,
    errno.ELOOP, errno.EINVAL, errno.EEXIST,
)  # fmt: skip

_set: ContextVar[list[tuple[Path, Path]] | None] = ContextVar("_set", default=None)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`; it takes the place of `path` when the block ends without error."""
    target = check_file(path)
    clear_leftovers(target.parent)
    try:
        handle, name = tempfile.mkstemp(prefix=f".pliant-{_machine()}-{os.getpid()}-", dir=target.parent)
    except OSError as error:
        raise cannot_write(path, error) from None
    os.close(handle)
    temporary, waiting = Path(name), _set.get()
    try:
        yield temporary
        with suppress(OSError):  # not every file system has them
            temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        if waiting is None:
            temporary.replace(target)
        else:
            waiting.append((temporary, target))
    except BaseException as error:
        _remove(temporary)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from error
        raise


@contextmanager
def whole_set() -> Iterator[None]:
    """Files that belong together: those written inside take their places when the block ends without error, or none."""
    waiting: list[tuple[Path, Path]] = []
    token = _set.set(waiting)
    try:
        yield
        for temporary, target in waiting:
            try:
                temporary.replace(target)
            except OSError as error:
                raise cannot_write(target, error) from error
    finally:
        _set.reset(token)
        for temporary, _ in waiting:
            _remove(temporary)


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


def write_content(path: Path, content: io.BytesIO) -> None:
    """Write what was made in memory, whole or not at all.

    Its view is released whatever happens: left to the traceback of a full disk it ends Python 3.12.1 in its garbage
    collector (python/cpython#111049)."""
    with whole_file(path) as temporary, open(temporary, "wb") as file, content.getbuffer() as view:
        file.write(view)


def check_writable(path: Path, option: str = "--out") -> None:
    """Before a long computation: a file that can be written, its folder made, or a message; `path` stays as it is."""
    make_folder(path.parent, option)
    try:
        with tempfile.NamedTemporaryFile(prefix=f".pliant-{_machine()}-{os.getpid()}-", dir=check_file(path).parent):
            pass
    except OSError as error:
        raise ModelError(f"{option} {path}: {error.strerror or error}; name a file that can be written") from None
    except ModelError as error:
        raise ModelError(f"{option} {error}") from None


def make_folder(folder: Path, option: str = "--out") -> None:
    """A folder that exists or can be made and written, or a message about the option that names it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_writable = os.access(folder, os.W_OK)
    except (OSError, ValueError) as error:
        kind = ModelError if not isinstance(error, OSError) or error.errno in MISTAKES else SimulationError
        reason = getattr(error, "strerror", None) or error
        reason = "this is a file" if isinstance(error, FileExistsError) else reason
        raise kind(f"{option} {folder}: {reason}; name a folder that can be written") from None
    if not is_writable:
        raise ModelError(f"{option} {folder}: no permission to write there; name another folder")
    clear_leftovers(folder.resolve())


def cannot_write(path: Path, error: OSError) -> PliantError:
    """A user's mistake, as a folder that is not there, or a breakdown, as a full disk."""
    reason = error.strerror or str(error)
    if error.errno not in MISTAKES:
        kept = "what was there is kept" if path.exists() else "nothing is left of it"
        return SimulationError(f"{path}: the file could not be written ({reason}); {kept}")
    reason = "there is no such folder" if isinstance(error, FileNotFoundError) else reason
    return ModelError(f"{path}: the file cannot be written ({reason}); choose another place")


def check_file(path: Path) -> Path:
    """The regular file that would be written or replaced (a link stays, what it leads to is the file), or a message."""
    try:
        if path.is_dir():
            raise ModelError(f"{path}: this is a folder; name a file")
        if path.exists() and not path.is_file():
            raise ModelError(f"{path}: this is no file but a device or a pipe, which stays as it is; name a file")
        if path.exists() and not os.access(path, os.W_OK):
            raise ModelError(f"{path}: this file is protected from being written; name another one")
        target = path.resolve()
        if target.is_symlink():  # before Python 3.13 resolve raises
            raise RuntimeError("its links lead in a circle")
        return target
    except ModelError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from None
    except (ValueError, RuntimeError) as error:  # a zero in the name, links in a circle
        raise ModelError(f"{path!r}: this is no name of a file ({error}); name another one") from None


# --- what killed runs left ---------------------------------------------------------------------------------------


@cache
def clear_leftovers(folder: Path) -> None:
    """Remove temporary files of processes that are gone, once per folder; those of other machines only when old."""
    try:
        names = [name for name in os.listdir(folder) if TEMPORARY.match(name)]
    except OSError:
        return
    for path in (folder / name for name in names):
        with suppress(OSError):
            if _is_nobodys(path) and path.is_file() and not path.is_symlink():
                path.unlink()


def _is_nobodys(path: Path) -> bool:
    found = TEMPORARY.match(path.name)
    assert found is not None
    is_here = found[1] == _machine() and os.name == "posix"
    return (is_here and not _is_running(int(found[2]))) or time.time() - path.stat().st_mtime > OLD


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's
        return True
    return True


@cache
def _machine() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
