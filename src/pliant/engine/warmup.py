"""Compile kernels ahead of time, in two processes."""

from __future__ import annotations

import subprocess
import sys
import time

from pliant.errors import SimulationError

# two halves of about equal compile time, in an order in which one finds ready what the other has done;
# the first list of each is what a first run needs
HALVES = (
    (
        ("formulations.articulated", "energy", "dynamics"),
        (
            "inverse",
            "formulations.spherical_batch",
            "repeat",
            "many",
            "formulations.boltzmann_hamel",
            "formulations.denoc",
            "formulations.articulated_response",
            "formulations.denoc_response",
            "transfer_matrix.acceleration",
            "transfer_matrix.response",
            "transfer_matrix.step",
            "rows_response",
            "jacobians",
            "shift",
            "control",
            "rigid_model",
            "closures.constraint_check",
            "closures.springs",
            "closures.reduced",
            "closures.independent",
        ),
    ),
    (
        (
            "contact.phase",
            "integrators.advance",
            "integrators.runge_kutta",
            "events",
            "outputs",
            "friction_check",
        ),
        (
            "contact.stick",
            "contact.stick_or_slip",
            "closures.multipliers",
            "closures.projection",
            "closures.implicit",
            "formulations.gibbs_appell",
            "formulations.lagrange",
            "formulations.stiffening",
            "integrators.adams",
            "nearby",
            "integrators.radau",
            "integrators.second_order",
            "integrators.ark",
            "semi_implicit",
            "compliance",
        ),
    ),
)

# kernels of the first lists that a first run does without
NOT_AT_FIRST = ("dynamics.forward", "outputs.record_rates")


def warm_up(is_first_run: bool = False) -> float:
    """Compile (or load) every kernel, or only what a first run needs; returns the seconds it took."""
    begun = time.perf_counter()
    workers = []
    for needed, others in HALVES:
        modules = needed if is_first_run else needed + others
        left_out = NOT_AT_FIRST if is_first_run else ()
        code = "\n".join(f"import pliant.kernels.{module}" for module in modules)
        code += f"\nfrom pliant.kernels import _jit\n_jit.compile_all(but={left_out})"
        workers.append(subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True))
    for worker in workers:
        _, errors = worker.communicate()
        if worker.returncode:
            raise SimulationError(f"a kernel did not compile:\n{errors}")
    return time.perf_counter() - begun
