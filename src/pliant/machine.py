"""The machine: memory that it has left, and how another process of Python is started."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

UNKNOWN = 4e9  # bytes, where the system does not say
RESERVE = 200_000_000  # bytes that are left for the end of a run: its figures, page and files
GROUPS = Path("/sys/fs/cgroup")


def free_memory() -> float:
    """Bytes that this process can still use: of the machine, of its container, of its address space."""
    return max(0.0, min((*_limits(), free_addresses()), default=UNKNOWN))


def free_addresses() -> float:
    """Bytes for which this process can still have addresses, files mapped into memory included (ulimit -v)."""
    if sys.platform == "win32":
        return float("inf")
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        with suppress(OSError, ValueError):
            return limit - float(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return float("inf")


def address_reserve() -> bytearray | None:
    """Addresses held back while a run goes on, where they are limited: let go, they are there for its end."""
    free = free_addresses()
    # not touched, so it takes no memory
    return None if free == float("inf") else bytearray(int(min(RESERVE, 0.5 * max(free, 0.0))))


def _limits() -> Iterator[float]:
    if sys.platform == "win32":
        yield _free_on_windows()
        return
    with suppress(OSError, ValueError, IndexError):
        facts = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        yield 1024.0 * float(facts["MemAvailable"].split()[0]) if "MemAvailable" in facts else UNKNOWN
    if not Path("/proc/meminfo").exists():
        with suppress(OSError, ValueError):  # the half of what there is
            yield 0.5 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield from _limits_of_groups()


def _limits_of_groups() -> Iterator[float]:
    """Of containers and services: the group of this process and those around it."""
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        own = next((line[3:].strip("/") for line in lines if line.startswith("0::")), None)
        folders = [] if own is None else [GROUPS / own, *(GROUPS / own).parents]
        for folder in [*folders, GROUPS / "memory"]:
            if GROUPS not in (folder, *folder.parents):
                break
            for most, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
                with suppress(OSError, ValueError):
                    limit = float((folder / most).read_text())  # "max": none
                    yield limit - float((folder / used).read_text()) + _reclaimable(folder)


def _reclaimable(folder: Path) -> float:
    """Files kept in memory that can be dropped."""
    with suppress(OSError, ValueError):
        for line in (folder / "memory.stat").read_text().splitlines():
            name, value = line.split()
            if name == "inactive_file":
                return float(value)
    return 0.0


def _free_on_windows() -> float:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *(
                (name, ctypes.c_ulonglong)
                for name in ("total", "free", "pages", "free_pages", "room", "free_room", "_")
            ),
        )

    status = Status(length=ctypes.sizeof(Status))
    return float(status.free) if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)) else UNKNOWN  # type: ignore[attr-defined]


def python_process() -> tuple[list[str], dict[str, str]]:
    """Return command and environment of a process that imports what this one could, and nothing from the folder it
    stands in: that is where files of others lie."""
    paths = os.pathsep.join(os.path.abspath(place) for place in sys.path if place)
    return [sys.executable, "-P"], {**os.environ, "PYTHONPATH": paths}
