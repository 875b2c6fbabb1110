"""Fixed steps have no error control: whether motion has grown far beyond what its energies and works explain, as with
a method beyond its limit of stability. Imports _jit, algebra and system only.

Explained: what there was at the start, what gravity and negative springs gave, and every work that is positive (dampers
take, motors give). Looked at only where speeds have grown tenfold, so that it costs nothing; one look says little, as
the first step of a stable method may overshoot, three in a row are growth.
"""

from pliant.kernels._jit import STATE, kernel, routine
from pliant.system.status import Status

call_state = STATE.call

NOT_FINITE, NOT_CONVERGED = int(Status.NOT_FINITE), int(Status.NOT_CONVERGED)
DEFLECTED, GROWN = int(Status.DEFLECTED), int(Status.GROWN)

SPEED_FACTOR = 10.0  # between two looks
MAX_LOOKS = 3  # in a row that find energy unexplained
UNEXPLAINED = 1e4  # times the energy explained: no inaccuracy of a stable method comes near
FAILED_UNEXPLAINED = 1e2  # the same, where a step has failed
AT_REST = 1e-8  # of the energy of gravity: rounding


@kernel
def is_watched(work, stepping):
    return stepping.is_fixed == 1 and work.calls[0].energy != 0


@routine
def top_speed(system, memory):
    n_q, n_v = system.world[0].n_q, system.world[0].n_v
    top = 0.0
    for i in range(n_q, n_q + n_v):
        top = max(top, abs(memory.y[i]))
    return top


@routine
def measure_energy(system, work, memory):
    n_q, n_v = system.world[0].n_q, system.world[0].n_v
    q, v = memory.y[:n_q], memory.y[n_q : n_q + n_v]
    call_state(work.calls[0].energy, (system, work, memory.stepping[0].t, q, v))


@routine
def begin_growth(system, work, memory):
    """Energies at the start."""
    stepping, run = memory.stepping[0], work.run[0]
    if not is_watched(work, stepping):
        return
    measure_energy(system, work, memory)
    stepping.top_speed, stepping.n_unexplained = top_speed(system, memory), 0
    stepping.start_gravity, stepping.start_energy = run.gravity, abs(run.kinetic) + abs(run.elastic)


@routine
def is_unexplained(system, work, memory, factor):
    """Whether energy now is so many times what is explained; also where it is no number."""
    stepping, run = memory.stepping[0], work.run[0]
    measure_energy(system, work, memory)
    explained = stepping.rest_energy + stepping.start_energy + AT_REST * abs(stepping.start_gravity)
    explained += abs(run.gravity - stepping.start_gravity) + max(0.0, -run.elastic)
    first = system.world[0].n_q + system.world[0].n_v
    for k in range(len(system.quadratures)):
        explained += max(0.0, memory.y[first + k])
    return not run.kinetic + run.elastic <= factor * explained


@routine
def has_grown(system, work, memory):
    """After a step."""
    stepping = memory.stepping[0]
    if not is_watched(work, stepping):
        return False
    top = top_speed(system, memory)
    if top <= SPEED_FACTOR * stepping.top_speed:
        return False
    stepping.top_speed = top
    is_strange = is_unexplained(system, work, memory, UNEXPLAINED)
    stepping.n_unexplained = stepping.n_unexplained + 1 if is_strange else 0
    return stepping.n_unexplained >= MAX_LOOKS


@routine
def failure(system, work, memory, status):
    """What a step that failed with this status is called."""
    may_have_grown = status in (NOT_FINITE, NOT_CONVERGED, DEFLECTED) and is_watched(work, memory.stepping[0])
    return GROWN if may_have_grown and is_unexplained(system, work, memory, FAILED_UNEXPLAINED) else status
