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
        ("formulations.articulated", "energy", "dynamics", "inverse"),
        (
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
            "contact.stick",
            "contact.stick_or_slip",
            "integrators.advance",
            "integrators.runge_kutta",
            "events",
            "outputs",
        ),
        (
            "closures.multipliers",
            "closures.projection",
            "closures.implicit",
            "friction_check",
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


def warm_up(is_first_run: bool = False) -> float:
    """Compile (or load) every kernel, or only what a first run needs; returns the seconds it took."""
    begun = time.perf_counter()
    workers = []
    for needed, others in HALVES:
        modules = needed if is_first_run else needed + others
        code = "\n".join(f"import pliant.kernels.{module}" for module in modules)
        workers.append(subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True))
    for worker in workers:
        _, errors = worker.communicate()
        if worker.returncode:
            raise SimulationError(f"a kernel did not compile:\n{errors}")
    return time.perf_counter() - begun
