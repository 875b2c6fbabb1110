"""All forces of one instant into work: tau per velocity, wrench per body, power per kind of work."""

from pliant.kernels._jit import kernel
from pliant.kernels.closures.springs import gather_given_multipliers, gather_loop_springs
from pliant.kernels.contact.gather import gather_contacts, gather_sites
from pliant.kernels.forces.beams import gather_beam_forces
from pliant.kernels.forces.joints import gather_joint_forces
from pliant.kernels.forces.loads import gather_loads
from pliant.kernels.forces.push import clear_wrenches
from pliant.system.loop_tables import Closure
from pliant.system.status import Status
from pliant.system.tables import Power

OK = int(Status.OK)


@kernel
def gather(system, work, q, v):
    """Signals are evaluated and bodies are placed; gravity belongs to the formulations."""
    status = OK
    if system.world[0].has_joint_forces:
        gather_joint_forces(system, work, q, v)
    else:
        for j in range(len(work.dofs)):
            work.dofs[j].tau = work.dofs[j].tau_extra
        work.power[Power.DAMPER] = 0.0
    if len(system.flexes) > 0:
        status = gather_beam_forces(system, work)
    if len(system.loads) > 0 or len(system.contacts) > 0 or len(system.loops) > 0:
        clear_wrenches(system, work)
        work.power[Power.NORMAL], work.power[Power.FRICTION] = 0.0, 0.0
    if len(system.loads) > 0:
        gather_loads(system, work)
    if work.run[0].n_touching > 0:
        gather_contacts(system, work)
    if work.run[0].closure == Closure.SPRINGS:
        gather_loop_springs(system, work)
    elif work.run[0].closure == Closure.GIVEN:
        gather_given_multipliers(system, work)
    if len(system.sites) > 0:
        gather_sites(system, work, v)
    return status
