"""Arrays in NetCDF files, with sums by which damage is found; result.nc and the rows of studies are made of them.

HDF5 may loop for ever, or crash, over bytes that were damaged. So a seal stands behind its last byte, where it does not
look: a sum of all bytes before it, checked before HDF5 sees one. A file without a seal was written by an earlier
version, or changed by another program, which drops it: such a file is first read in a process of its own."""

from __future__ import annotations

import hashlib
import io
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.files import write_content
from pliant.io.limited import run_limited
from pliant.io.plain_file import check_plain

MAX_BYTES = 1_000_000_000_000
SIGNATURE = b"\x89HDF\r\n\x1a\n"
SEAL = b"\npliant seal "
SUM_BYTES = 32
BLOCK = 1 << 20  # bytes read at a time
TRIAL_SECONDS = 15  # for which a file without a seal may be read, and ..
TRIAL_RATE = 20_000_000  # .. one more for so many bytes


def write_sealed(path: Path, content: io.BytesIO) -> None:
    """Write a NetCDF file that was made in memory, whole or not at all, with its seal."""
    with content.getbuffer() as view:
        found = hashlib.blake2b(view, digest_size=SUM_BYTES).hexdigest()
    content.seek(0, os.SEEK_END)
    content.write(SEAL + found.encode())
    write_content(path, content)


def check_seal(path: Path) -> bool | None:
    """Return True if a file is as it was written, None if it has no seal. OSError, or a message: it cannot be read."""
    check_plain(path, MAX_BYTES)
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size - len(SEAL) - 2 * SUM_BYTES
        file.seek(max(0, size))
        mark, found = file.read(len(SEAL)), file.read()
        if size < 0 or mark != SEAL:
            return None
        file.seek(0)
        total = hashlib.blake2b(digest_size=SUM_BYTES)
        while size > 0 and (block := file.read(min(BLOCK, size))):
            total.update(block)
            size -= len(block)
    return total.hexdigest().encode() == found


def can_be_read(path: Path) -> bool:
    """Return True if a file without a seal can be read to its end, found out in a process of its own."""
    with open(path, "rb") as file:
        if file.read(len(SIGNATURE)) != SIGNATURE:
            return False
    found = path.stat()
    return _was_read(str(path.resolve()), found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=1000)
def _was_read(path: str, size: int, changed: int) -> bool:
    seconds = TRIAL_SECONDS + size // TRIAL_RATE
    try:
        run_limited(path, f"{__name__}:read_all", seconds, path=path)
    except ModelError:
        return False
    return True


def read_all(path: str) -> None:
    """Read every array and attribute of a file, and of the groups in it."""
    import h5netcdf

    with h5netcdf.File(path, "r", decode_vlen_strings=True) as file:
        for group in (file, *file.groups.values()):
            dict(group.attrs)
            for variable in group.variables.values():
                taken_array(variable)
                dict(variable.attrs)


def put_array(group: Any, name: str, values: Any, axes: tuple[str, ...]) -> None:
    """Write one array, or a text, into a group of a file."""
    for axis, size in zip(axes, values.shape, strict=True):
        if axis not in group.dimensions:
            group.dimensions[axis] = size
    group.create_variable(name, axes, data=values, dtype=text_type() if values.dtype == object else values.dtype)


def array_sum(values: Any) -> str:
    """Of one array."""
    data = json.dumps(values.tolist()).encode() if values.dtype == object else np.ascontiguousarray(values).data
    return f"{values.shape} {hashlib.blake2b(data, digest_size=16).hexdigest()}"


def text_type() -> Any:
    """Of variables that hold texts."""
    import h5py

    return h5py.string_dtype()


def taken_array(variable: Any) -> Any:
    """What a variable holds, as it was put there."""
    values = np.asarray(variable[...])
    return np.array(values.tolist(), dtype=object) if values.dtype.kind in "OSU" else values
