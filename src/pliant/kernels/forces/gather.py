"""All forces of one instant into work: tau per velocity, wrench per body, power per kind of work."""

from pliant.kernels._jit import kernel
from pliant.kernels.forces.beams import gather_beam_forces
from pliant.kernels.forces.joints import gather_joint_forces
from pliant.kernels.forces.loads import gather_loads
from pliant.system.tables import Power


@kernel
def gather(system, work, q, v):
    """Signals are evaluated and bodies are placed; gravity belongs to the formulations."""
    if system.world[0].has_joint_forces:
        gather_joint_forces(system, work, q, v)
    else:
        for j in range(len(work.dofs)):
            work.dofs[j].tau = work.dofs[j].tau_extra
        work.power[Power.DAMPER] = 0.0
    if len(system.flexes) > 0:
        gather_beam_forces(system, work)
    if len(system.loads) > 0:
        gather_loads(system, work)
