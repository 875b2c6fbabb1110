"""Piles of recorded numbers: in memory, or in a temporary file without a name, of which nothing is ever left over."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from typing import IO, Any

import numpy as np

SPARE = 1e9  # bytes of a disk that are left to others ..
SPARE_SHARE = 0.1  # .. of a small one this share


class Pile:
    """Arrays put one after the other, to be had as one. All in memory, or all in the file."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._file: IO[bytes] | None = None
        self._place = ""
        self.in_memory = self.on_disk = 0  # bytes
        self.last_row: Any = None

    def add(self, part: Any) -> None:
        """Put an array on top; it is not copied. OSError: it belongs into the file, and the disk is full."""
        if self._file is None:
            self._parts.append(part)
            self.in_memory += part.nbytes
        else:
            self._write(self._file, part)
        if len(part):
            self.last_row = part[-1].copy()

    def to_disk(self) -> None:
        """Into a file, with all that follows. OSError: the disk is full, and all is in memory as before."""
        if self._file is not None or not self._parts:
            return
        self._place = _disk()
        file = tempfile.TemporaryFile(dir=self._place, buffering=0)  # noqa: SIM115  it lives as long as the pile
        try:
            for part in self._parts:
                self._write(file, part)
        except OSError:
            self.on_disk = 0
            file.close()
            raise
        del self._parts[1:]
        self._parts[0] = self._parts[0][:0].copy()  # holds the shape of the others
        self._file, self.in_memory = file, 0

    def _write(self, file: IO[bytes], part: Any) -> None:
        """All of it or nothing."""
        disk = shutil.disk_usage(self._place)
        if disk.free - part.nbytes < min(SPARE, SPARE_SHARE * disk.total):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._place)
        rest = memoryview(np.ascontiguousarray(part).tobytes())
        file.seek(self.on_disk)
        while rest:
            rest = rest[file.write(rest) :]
        self.on_disk += part.nbytes

    def whole(self) -> Any:
        """All as one array. Parts are let go on the way, so that they and it need not fit beside each other."""
        first = self._parts[0]
        if self._file is not None:
            row = first.itemsize * int(np.prod(first.shape[1:]))
            shape = (self.on_disk // row, *first.shape[1:])
            return np.asarray(np.memmap(self._file, first.dtype, "c", shape=shape))
        if len(self._parts) > 1:
            whole = np.empty((sum(map(len, self._parts)), *first.shape[1:]), first.dtype)
            end = len(whole)
            while self._parts:
                part = self._parts.pop()
                whole[end - len(part) : end] = part
                end -= len(part)
            self._parts.append(whole)
        return self._parts[0]

    def thin(self) -> None:
        """Keep every second row, the first and the last."""
        self._parts = [part for part in self._parts if len(part)] or self._parts[:1]
        for k, part in enumerate(self._parts):
            self._parts[k] = _every_second(part, with_last=k == len(self._parts) - 1)
        self.in_memory = sum(part.nbytes for part in self._parts)


def _every_second(part: Any, with_last: bool) -> Any:
    """Rows 0, 2, 4, .., and the last; in the same place where there is none for a copy."""
    count, more = (len(part) + 1) // 2, int(with_last and len(part) % 2 == 0 and len(part) > 0)
    try:
        return np.concatenate([part[::2], part[len(part) - more :]])
    except MemoryError:
        for k in range(1, count):
            part[k] = part[2 * k]
        if more:
            part[count] = part[-1]
        return part[: count + more]


def _disk() -> str:
    """A folder for large files: /tmp is often kept in memory, /var/tmp never."""
    if not os.environ.get("TMPDIR") and os.path.isdir("/var/tmp") and os.access("/var/tmp", os.W_OK):
        return "/var/tmp"
    return tempfile.gettempdir()
