"""What the command says before it compiles kernels."""

from __future__ import annotations

import sys
from typing import Any


def compile_first() -> None:
    """On a new machine, say that kernels are being compiled, and use both cores for it."""
    from pliant.engine.warmup import warm_up
    from pliant.kernels import _jit

    if _jit.CACHE_FOLDER and not _jit.is_cached():
        print("pliant compiles its kernels, once on this machine (about half a minute) ...", file=sys.stderr)
        warm_up(is_first_run=True)


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
    if sticks and not _jit.is_cached("pliant.kernels.contact.stick"):
        missing.append("friction that sticks")
    if _jit.CACHE_FOLDER and missing:
        print(f"pliant compiles {listed(missing)}, once on this machine (10 to 20 s) ...", file=sys.stderr)
