"""Runs whose every bit is compared: prints a line each, numbers as a hash of their bytes. Where ready kernels serve,
numba must not have been imported in the end; which of the two it was is the first line."""

import hashlib
import sys

import numpy as np

import pliant
from pliant.kernels import _jit
from pliant.kernels.formulations import spherical_batch
from pliant.methods import CLOSURES, INTEGRATORS
from zoo import ZOO, supporting

HORIZON = 0.02  # [s] of the zoo's models: hundreds of evaluations each


def show(*words_and_array: object) -> None:
    *words, array = words_and_array
    data = np.ascontiguousarray(array)
    print(*words, data.shape, hashlib.sha256(data.tobytes()).hexdigest()[:16], flush=True)


def run(name: str, model: pliant.Model, **options: object) -> None:
    try:
        result = pliant.simulate(model, HORIZON, **options)
    except pliant.ModelError:
        return  # a method that does not take this model
    show(name, *options.values(), result.status, np.concatenate([result.q.ravel(), result.v.ravel()]))


print("numba" if _jit.COMPILES else "ready")
for name, model in ZOO.items():
    for row in supporting(model):
        show(name, row, pliant.forward_dynamics(model, model.q0, model.v0, formulation=row))
        run(name, model, formulation=row)
    for row in INTEGRATORS:
        run(name, model, integrator=row.name, rtol=1e-5)
    if model.loops:
        for row in CLOSURES:
            run(name, model, closure=row.name)
    show(name, "energies", [pliant.energy(model, model.q0, model.v0).total])
for name in ("falling-chain", "two-link-arm", "four-bar", "stick-slip-belt", "tmm-beam", "flexible-arm-online"):
    result = pliant.simulate(pliant.load(name))
    show("case", name, result.status, np.concatenate([result.q.ravel(), result.v.ravel()]))
# lanes: eight states at once
model = pliant.load("long-chain")
handle, random = pliant.Prepared(model), np.random.default_rng(1)
n_q, n_v = len(model.coordinates), len(model.velocities)
q, v, tau = random.normal(size=(20, n_q)), random.normal(size=(20, n_v)), random.normal(size=(20, n_v))
vdot, scratch = np.empty((20, n_v)), spherical_batch.new_scratch(len(handle.system.bodies))
_jit.entry(spherical_batch.spherical_batch)(handle.refs[0], q, v, tau, vdot, scratch)
show("batch", "spherical", vdot)
# eight runs at once
for arm in (ZOO["double_pendulum"], ZOO["pendulum"]):  # in the plane, in space
    q = arm.q0 + random.normal(size=(20, len(arm.q0)))
    runs = pliant.simulate_many(arm, HORIZON, q0=q, rtol=1e-6)
    show("lanes", arm.name, np.concatenate([runs.q.ravel(), runs.v.ravel()]))
if not _jit.COMPILES and "numba" in sys.modules:
    sys.exit("numba was imported, though ready kernels serve")
