"""Readers of others, which may wait, grow or crash: run in a process of their own, with limits of time and memory."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from pliant.errors import ModelError
from pliant.machine import python_process

SECONDS = 60  # that a reader may take
GIGABYTES = 4  # of memory that it may use


def run_limited(what: str, function: str, seconds: int | None = None, **given: Any) -> Any:
    """What a function of pliant ("module:name") returns, in a process of its own; messages begin with `what` is read.

    Both what is given and what is returned are plain: texts, numbers, lists, tables. ModelError is passed on."""
    seconds = seconds or SECONDS
    order = json.dumps({"function": function, "given": given, "seconds": seconds, "bytes": GIGABYTES << 30})
    python, environment = python_process()
    try:
        # in a folder of its own: some readers write logs
        with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
            done = subprocess.run(
                [*python, "-m", "pliant.io.limited"],
                input=order.encode(),
                capture_output=True,
                timeout=seconds + 1,
                cwd=folder,
                env={**environment, "OPENBLAS_NUM_THREADS": "1"},
            )
    except subprocess.TimeoutExpired:
        raise ModelError(f"{what}: {_too_long(seconds)}") from None
    except OSError as error:
        raise ModelError(f"{what}: no process could be started to read it ({error.strerror or error})") from None
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise ModelError(f"{what}: {_how_it_ended(done, seconds)}") from None
    if "problem" in answer:
        raise ModelError(answer["problem"] or f"{what}: {_too_large()}")
    return answer["made"]


def _too_long(seconds: int) -> str:
    return f"reading it took more than {seconds} s; give it fewer or smaller parts"


def _too_large() -> str:
    return f"reading it took more than {GIGABYTES} GB of memory; give it fewer or smaller parts"


def _how_it_ended(done: subprocess.CompletedProcess[bytes], seconds: int) -> str:
    """Without an answer: by a limit, or by a crash."""
    import signal

    words = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode == -getattr(signal, "SIGALRM", 0):
        return _too_long(seconds)
    if any(word in words for word in ("MemoryError", "bad_alloc", "allocate memory")):
        return _too_large()
    last = words.splitlines()[-1] if words else f"code {done.returncode}"
    return f"its reader crashed ({last}); check the file"


# --- the other process ----------------------------------------------------------------------------------------------


def _limit(seconds: int, most: int) -> None:
    """Also for the case that nobody waits for the answer any more."""
    try:
        import resource
        import signal
    except ImportError:  # Windows: the time is limited by who waits
        return
    signal.alarm(seconds)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _answer(order: Mapping[str, Any]) -> dict[str, Any]:
    module, _, name = order["function"].partition(":")
    try:
        return {"made": getattr(importlib.import_module(module), name)(**order["given"])}
    except ModelError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": ""}


def _main() -> None:
    # what readers print themselves does not get between
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    order = json.load(sys.stdin)
    _limit(order["seconds"], order["bytes"])
    text = json.dumps(_answer(order))
    with answer:
        answer.write(text)


if __name__ == "__main__":
    _main()
