"""Controllers with a law: what they measure at a sampling instant, what they command, and when that acts.

The same loop that simulation/controllers.py puts around a Python function: noise and steps of the sensors, the law,
steps and limits of the command, a delay."""

import math

import numpy as np

from pliant.kernels._jit import CONTROL, FORWARD, LAWS, kernel, routine
from pliant.kernels.forces.signals import evaluate_signals
from pliant.system.control_tables import SAME_INSTANT
from pliant.system.status import Status

call_forward = FORWARD.call
TWO_PI = 2.0 * math.pi


@kernel
def uniform(x):
    """A random number between 0 and 1: L'Ecuyer's combined generator (lecuyer1988)."""
    x.seed1 = 40014 * x.seed1 % 2147483563
    x.seed2 = 40692 * x.seed2 % 2147483399
    z = x.seed1 - x.seed2
    if z < 1:
        z += 2147483562
    return z / 2147483563.0


@kernel
def normal(x):
    """A random number of the standard normal distribution, by Box and Muller."""
    radius = math.sqrt(-2.0 * math.log(uniform(x)))
    return radius * math.cos(TWO_PI * uniform(x))


@kernel
def rounded(value, step):
    """The nearest multiple of a step; 0: the value itself."""
    return step * np.rint(value / step) if step > 0.0 else value


@routine
def start(system, work):
    """As before the first sample: nothing measured, nothing on its way, commands 0."""
    for k in range(len(system.controllers)):
        row, x = system.controllers[k], work.controllers[k]
        x.n_samples = x.first = x.n_waiting = 0
        x.seed1, x.seed2 = row.seed1, row.seed2
        for i in range(row.n_x):
            work.control[row.x + i] = system.pool[row.start + i]
        for i in range(row.command, row.command + row.n_commands):
            work.inputs[system.commands[i].input] = 0.0


@routine
def measure(system, work, row, x, y):
    """q and v of this controller: noise first, then steps; or rates as differences of measured coordinates."""
    room, n_q, n_v = work.control, system.world[0].n_q, system.world[0].n_v
    for i in range(n_q):
        room[row.q + i] = y[i]
    for j in range(n_v):
        room[row.v + j] = y[n_q + j]
    for k in range(len(system.encoders)):
        encoder = system.encoders[k]
        noise = row.noise * normal(x) if row.noise > 0.0 else 0.0
        step = row.angle_step if encoder.is_angle == 1 else row.length_step
        room[row.q + encoder.q] = rounded(y[encoder.q] + noise, step)
    for k in range(len(system.bodies)):
        body = system.bodies[k]
        for j in range(body.v, body.v + body.n_v):
            noise = row.rate_noise * normal(x) if row.rate_noise > 0.0 else 0.0
            room[row.v + j] = rounded(y[n_q + j] + noise, row.rate_step)
    if row.takes_differences == 1:
        for k in range(len(system.encoders)):
            encoder = system.encoders[k]
            now = room[row.q + encoder.q]
            before = now if x.n_samples == 0 else room[row.q_before + encoder.q]
            if encoder.v >= 0:
                room[row.v + encoder.v] = (now - before) / row.period
    for i in range(n_q):
        room[row.q_before + i] = room[row.q + i]


@routine
def compare(system, work, row):
    """e: what is measured minus what it shall be."""
    room, n_q = work.control, system.world[0].n_q
    for i in range(row.n_e):
        feedback = system.feedback[row.feedback + i]
        column = feedback.column
        wanted = feedback.offset
        if feedback.reference >= 0:
            signal = work.signals[feedback.reference]
            wanted += signal.sdot if feedback.is_rate == 1 else signal.s
        room[row.e + i] = (room[row.q + column] if column < n_q else room[row.v + column - n_q]) - wanted


@kernel
def product(pool, matrix, i, n, room, x):
    """Row i of a matrix with n columns in the pool, times n numbers."""
    total = 0.0
    for k in range(n):
        total += pool[matrix + n * i + k] * room[x + k]
    return total


@routine
def compute_torques(system, work, row, t):
    """Forces of the rigid model, as measured, for the accelerations D e + r''; joints of others keep their rates, or
    move as prescribed."""
    room, vdot, n_q, n_v = work.control, work.vdot, system.world[0].n_q, system.world[0].n_v
    q, v, tau = room[row.q : row.q + n_q], room[row.v : row.v + n_v], room[row.tau : row.tau + n_v]
    for j in range(n_v):
        motion = system.dofs[j].motion
        vdot[j] = work.signals[motion].sddot if motion >= 0 else 0.0
    for i in range(row.n_commands):
        motor = system.commands[row.command + i]
        vdot[motor.v] = product(system.pool, row.D, i, row.n_e, room, row.e)
        if motor.reference >= 0:
            vdot[motor.v] += work.signals[motor.reference].sddot
        if motor.link >= 0:
            # without the give of the transmission both sides move as the one that is measured
            seen = system.feedback[row.feedback + row.n_commands + i].column - n_q
            q[system.dofs[motor.v].q] = q[system.dofs[motor.link].q] = q[system.dofs[seen].q]
            v[motor.v] = v[motor.link] = v[seen]
            vdot[motor.link] = vdot[motor.v]
    call_forward(work.calls[0].rigid_forces, (system, work, t, q, v, vdot, tau, work.reaction))


@routine
def evaluate_law(system, work, row, t, first):
    """u = feedforward + C x + D e (or the torques of computed torque) into work.control from `first` on."""
    room, pool = work.control, system.pool
    if row.is_computed_torque == 1:
        compute_torques(system, work, row, t)
    for i in range(row.n_commands):
        motor = system.commands[row.command + i]
        if row.is_computed_torque == 1:
            u = room[row.tau + motor.v]
            if motor.link >= 0:
                u += room[row.tau + motor.link]
            u /= system.dofs[motor.v].gear
        else:
            u = product(pool, row.C, i, row.n_x, room, row.x) + product(pool, row.D, i, row.n_e, room, row.e)
        if motor.feedforward >= 0:
            u += work.signals[motor.feedforward].s
        room[first + i] = u


@routine
def command(system, work, row, t, first):
    """Commands into work.control from `first` on, as the motors take them; then x of the next sample."""
    room, pool = work.control, system.pool
    evaluate_law(system, work, row, t, first)
    for i in range(row.n_commands):
        limit = system.commands[row.command + i].limit
        room[first + i] = min(max(rounded(room[first + i], row.command_step), -limit), limit)
    for i in range(row.n_x):
        x = product(pool, row.A, i, row.n_x, room, row.x) + product(pool, row.B, i, row.n_e, room, row.e)
        bound = pool[row.bounds + i]
        room[row.x_new + i] = min(max(x, -bound), bound)
    for i in range(row.n_x):
        room[row.x + i] = room[row.x_new + i]


@routine
def sample(system, work, row, x, t, y):
    """Measure, and send a command on its way."""
    measure(system, work, row, x, y)
    compare(system, work, row)
    entry = row.queue + (x.first + x.n_waiting) % row.n_queue * (1 + row.n_commands)
    work.control[entry] = t + row.delay
    command(system, work, row, t, entry + 1)
    x.n_samples += 1
    x.n_waiting += 1


@routine
def hold(system, work, row, x, t):
    """Commands that have arrived by t act from now on."""
    while x.n_waiting > 0:
        entry = row.queue + x.first * (1 + row.n_commands)
        if work.control[entry] > t + SAME_INSTANT:
            return
        for i in range(row.n_commands):
            work.inputs[system.commands[row.command + i].input] = work.control[entry + 1 + i]
        x.first = (x.first + 1) % row.n_queue
        x.n_waiting -= 1


@kernel(CONTROL)
def control(system, work, t, y, is_first):
    """Sample the controllers that are due at t, and hold what has arrived. Two instants that differ by rounding are
    one."""
    if is_first == 1:
        start(system, work)
    # the pieces of the references that hold from t on
    work.run[0].segment = t + SAME_INSTANT
    evaluate_signals(system, work, t, len(system.signals))
    t_next = math.inf
    for k in range(len(system.controllers)):
        row, x = system.controllers[k], work.controllers[k]
        if x.n_samples * row.period <= t + SAME_INSTANT:
            sample(system, work, row, x, t, y)
        hold(system, work, row, x, t)
        t_next = min(t_next, x.n_samples * row.period)
        if x.n_waiting > 0:
            t_next = min(t_next, work.control[row.queue + x.first * (1 + row.n_commands)])
    return t_next


@kernel(LAWS)
def laws(system, work, t, y, x, u):
    """Commands of all laws, with e left in work.control."""
    room, n_q, n_v = work.control, system.world[0].n_q, system.world[0].n_v
    work.run[0].segment = t + SAME_INSTANT
    evaluate_signals(system, work, t, len(system.signals))
    first = 0
    for k in range(len(system.controllers)):
        row = system.controllers[k]
        for i in range(n_q):
            room[row.q + i] = y[i]
        for j in range(n_v):
            room[row.v + j] = y[n_q + j]
        for i in range(row.n_x):
            room[row.x + i] = x[first + i]
        first += row.n_x
        compare(system, work, row)
        evaluate_law(system, work, row, t, row.queue + 1)
        for i in range(row.n_commands):
            u[system.commands[row.command + i].input] = room[row.queue + 1 + i]
    return Status.OK
