"""Start-up in new processes, wall time: import, first run with nothing cached, cached run, warmup."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pliant_benchmarks.figures import Figure

IMPORT = "import time; begun = time.perf_counter(); import pliant; print(time.perf_counter() - begun)"
REPEATS = 3


def _wall(arguments: list[str], cache: Path) -> tuple[float, str]:
    """Seconds of python with these arguments, and what it printed; kernels go to `cache`."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - begun
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(f"{' '.join(arguments)} failed: {lines[-1]}")
    return seconds, done.stdout


def _figure(who: str, goal: float, seconds: float, note: str = "") -> Figure:
    return Figure(who, seconds, seconds, goal, note=note)


def startup(say: Callable[[str], None]) -> list[Figure]:
    found = []
    with tempfile.TemporaryDirectory(prefix="pliant-bench-") as name:
        folder = Path(name)
        run = ["-m", "pliant", "run", "two-link-arm", "--out", str(folder / "out")]
        say("import pliant")
        seconds = min(float(_wall(["-c", IMPORT], folder)[1]) for _ in range(REPEATS))
        found.append(_figure("import pliant", 0.3, seconds, "without the interpreter's own start"))
        try:
            say("first run, empty cache")
            first, _ = _wall(run, folder / "cache")
            found.append(_figure("first run, empty cache", 15.0, first, "two-link-arm, whole process"))
            say("cached run")
            cached = min(_wall(run, folder / "cache")[0] for _ in range(REPEATS))
            found.append(_figure("cached run", 1.0, cached, f"the same, least of {REPEATS}"))
        except RuntimeError as error:
            found.append(Figure("run", note=str(error)))
        try:
            say("warmup, empty cache")
            found.append(_figure("warmup, empty cache", 60.0, _wall(["-m", "pliant", "warmup"], folder / "other")[0]))
        except RuntimeError as error:
            found.append(Figure("warmup", note=str(error)))
    return found
