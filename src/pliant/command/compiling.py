"""What the command says before it compiles kernels."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant.engine.warmup import Worker

_waiting: list[Worker] = []  # for compile_first


@contextmanager
def compilers_starting() -> Iterator[None]:
    """On a new machine, the processes of compile_first get ready while the model is checked. Nothing is compiled
    yet: after an error they end."""
    from pliant.kernels import _jit

    if _jit.CACHE_FOLDER and not _jit.is_cached():
        from pliant.engine.warmup import start_workers

        _waiting.extend(start_workers())
    try:
        yield
    except BaseException:
        _stop_waiting()
        raise


def compile_first() -> None:
    """On a new machine, say that kernels are being compiled, and use both cores for it."""
    from pliant.kernels import _jit

    if _jit.CACHE_FOLDER and not _jit.is_cached():
        from pliant.engine.warmup import warm_up

        print("pliant compiles its kernels, once on this machine (about 15 s) ...", file=sys.stderr)
        workers = tuple(_waiting)
        _waiting.clear()
        warm_up(is_first_run=True, workers=workers)
    _stop_waiting()  # where another process has compiled meanwhile


def _stop_waiting() -> None:
    while _waiting:
        _waiting.pop().stop()


def say_what_compiles(model: Any, options: dict[str, Any]) -> None:
    """Methods beyond those of every first run are compiled when they are needed first."""
    from pliant.kernels import _jit
    from pliant.methods import find_formulation, find_method
    from pliant.model.friction_laws import Friction
    from pliant.model.messages import listed

    chosen = {"formulation": "auto", "integrator": "auto", "closure": "auto", **model.run, **options}
    methods = [
        find_formulation(chosen["formulation"], model),
        find_method("integrator", chosen["integrator"]),
    ]
    if model.loops:
        methods.append(find_method("closure", chosen["closure"]))
    missing = [row.name for row in methods if not _jit.is_cached(row.module)]
    laws = [one.friction for one in model.contacts] + [law for joint in model.joints for law in joint.each("friction")]
    sticks = any(isinstance(law, Friction) and law.sticks() for law in laws)
    if sticks and not _jit.is_cached("pliant.kernels.contact.bounded_forces"):
        missing.append("friction that sticks")
    if _jit.CACHE_FOLDER and missing:
        print(f"pliant compiles {listed(missing)}, once on this machine (10 to 20 s) ...", file=sys.stderr)
