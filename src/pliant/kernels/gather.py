"""All forces of one instant into work: tau per velocity, wrench per body, power per kind of work."""

from pliant.kernels._jit import STATE, kernel
from pliant.kernels.contact.gather import gather_contacts, gather_joint_friction
from pliant.kernels.forces.apply import clear_wrenches
from pliant.kernels.forces.beams import gather_beam_forces
from pliant.kernels.forces.joints import gather_joint_forces
from pliant.kernels.forces.loads import gather_loads
from pliant.kernels.forces.springs import gather_springs
from pliant.kernels.forces.transmissions import gather_transmissions
from pliant.system.status import Status
from pliant.system.tables import Power

call_state = STATE.call
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
        work.power[Power.DAMPER], work.power[Power.MOTOR] = 0.0, 0.0
    if len(system.transmissions) > 0:
        gather_transmissions(system, work, q, v)
    if len(system.flexes) > 0:
        status = gather_beam_forces(system, work)
    n_pulling = len(system.loads) + len(system.springs)
    if n_pulling > 0 or len(system.contacts) > 0 or len(system.loops) > 0:
        clear_wrenches(system, work)
        work.power[Power.NORMAL], work.power[Power.FRICTION] = 0.0, 0.0
    if len(system.loads) > 0:
        gather_loads(system, work)
    if len(system.springs) > 0:
        of_springs = gather_springs(system, work)
        status = status if status != OK else of_springs
    if work.run[0].n_touching > 0:
        gather_contacts(system, work)
    if work.calls[0].loop_forces != 0:
        call_state(work.calls[0].loop_forces, (system, work, 0.0, q, v))
    if len(system.joint_frictions) > 0:
        gather_joint_friction(system, work, v)
    return status
