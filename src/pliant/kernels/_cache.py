"""Files of compiled kernels: one each, with a checksum, so that damage is seen before anything of it is run.

A folder per version of the sources and of numba; those unused for 30 days are dropped."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
import uuid
import warnings
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SUFFIX = ".kernel"
UNFINISHED = ".part"  # what a killed process leaves
OLD = 3600.0  # [s] writing takes a fraction of a second
UNUSED_DAYS = 30


def find_folder(version: str) -> Path | None:
    """First writable place for this version of the kernels; old versions beside it are dropped."""
    for root in _roots():
        folder = root / f"kernels-{version}"
        if not usable(folder):
            continue
        for other in root.glob("kernels-*"):
            with contextlib.suppress(OSError):
                if time.time() - (other / "used").stat().st_mtime > UNUSED_DAYS * 86400:
                    shutil.rmtree(other)
        return folder
    warnings.warn("pliant found no writable cache folder: kernels are compiled anew in every process", stacklevel=2)
    return None


def _roots() -> Iterator[Path]:
    if os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(os.environ["NUMBA_CACHE_DIR"]) / "pliant"
    if sys.platform == "win32":
        user = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local"))
    elif sys.platform == "darwin":
        user = Path.home() / "Library/Caches"
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    yield user / "pliant"
    user_id = os.getuid() if hasattr(os, "getuid") else None
    try:
        shared = Path(tempfile.gettempdir()) / f"pliant-{'cache' if user_id is None else user_id}"
        shared.mkdir(mode=0o700, exist_ok=True)
        # machine code that somebody else may have put there is not run
        is_own = user_id is None or shared.stat().st_uid == user_id
    except OSError:
        return
    if is_own:
        yield shared


def read_sealed(path: Path) -> bytes:
    """What write_sealed wrote; ValueError if it is anything else."""
    if path.exists() and not path.is_file():  # to open a pipe would wait for ever
        raise ValueError(f"{path} is no regular file")
    data = path.read_bytes()
    if data[:4] != _seal(path, data[4:]):
        raise ValueError(f"{path} is damaged")
    return data[4:]


def write_sealed(path: Path, data: bytes) -> None:
    """The file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f"{uuid.uuid4().hex}{UNFINISHED}"
    try:
        temporary.write_bytes(_seal(path, data) + data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _seal(path: Path, data: bytes) -> bytes:
    """Of the name, too: a file in another's place is damage."""
    return zlib.crc32(data, zlib.crc32(path.name.encode())).to_bytes(4, "little")


def remove(path: Path) -> None:
    """A file, or a folder in a file's place; what cannot be removed stays."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        pass


def usable(folder: Path) -> bool:
    """Whether kernels can be kept here, or are; clears what killed processes left."""
    if folder.exists() and not folder.is_dir():
        remove(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # a full disk takes empty files
        (folder / "used").write_bytes(bytes(65536))
    except OSError:
        return has_kernels(folder)
    for path in folder.glob(f"*{UNFINISHED}"):
        try:
            if time.time() - path.stat().st_mtime > OLD:
                path.unlink()
        except OSError:
            pass
    return True


def has_kernels(folder: Path, module: str = "") -> bool:
    """Whether kernels of a module (as pliant.kernels.energy), or any, are in a folder."""
    return any(folder.glob(f"{module or '*'}.*{SUFFIX}"))


@cache
def warn_unwritable(folder: str, reason: str) -> None:
    """Once."""
    warnings.warn(
        f"pliant's cache of compiled kernels in {folder} cannot be written ({reason}): what is not in it is compiled "
        "anew in every process",
        stacklevel=2,
    )
