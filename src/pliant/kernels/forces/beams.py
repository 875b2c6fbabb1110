"""Elastic and damping forces of flexible bodies on their modes: -K d - D e; their damping power."""

from pliant.kernels._jit import routine
from pliant.system.status import Status
from pliant.system.tables import Power

OK, DEFLECTED = int(Status.OK), int(Status.DEFLECTED)


@routine
def gather_beam_forces(system, work):
    """Add to tau of the modes; after move. DEFLECTED if some bending exceeds twice the length."""
    x, shapes = work.flex, system.shapes
    power = 0.0
    for i in range(len(system.flexes)):
        f = system.flexes[i]
        body = system.bodies[f.body]
        first = body.v + body.n_v
        bent = 0.0
        for j in range(f.n_b):
            bent += x[f.d + j] ** 2
        if bent > 4.0 * f.length**2:
            work.run[0].body = f.body
            return DEFLECTED
        for j in range(f.m):
            elastic, damping = 0.0, 0.0
            for l in range(f.m):
                elastic += shapes[f.K + j * f.m + l] * x[f.d + l]
                damping += shapes[f.Dm + j * f.m + l] * x[f.e + l]
            work.dofs[first + j].tau -= elastic + damping
            power -= damping * x[f.e + j]
    work.power[Power.DAMPER] += power
    return OK
