"""Tables of compiled controllers: sensors, laws, commands on their way. numpy only."""

import numpy as np

SAME_INSTANT = 1e-9  # [s] between sampling instants

# One row per controller with a law: u = feedforward + C x + D e, x <- A x + B e within its bounds; see
# model/control_laws.py. Steps of 0: none.
CONTROLLER = np.dtype(
    [
        ("period", np.float64),  # [s]
        ("delay", np.float64),  # from the measurement until the command acts [s]
        # sensors
        ("angle_step", np.float64),  # [rad]
        ("length_step", np.float64),  # [m]
        ("noise", np.float64),  # standard deviation [m, rad]
        ("rate_step", np.float64),  # [m/s, rad/s]
        ("rate_noise", np.float64),  # [m/s, rad/s]
        ("takes_differences", np.int64),  # 1: rates from the last two measured coordinates
        ("seed1", np.int64),  # states of the two generators of noise at t = 0
        ("seed2", np.int64),
        # commands
        ("command", np.int64),  # first row in commands
        ("n_commands", np.int64),
        ("command_step", np.float64),  # [N, N m]
        # law
        ("is_computed_torque", np.int64),  # 1: D e + r'' are accelerations, of which a rigid model makes torques
        ("feedback", np.int64),  # first row in feedback
        ("n_e", np.int64),
        ("n_x", np.int64),
        ("A", np.int64),  # first entries in pool, row by row
        ("B", np.int64),
        ("C", np.int64),
        ("D", np.int64),
        ("start", np.int64),  # (n_x) x at t = 0
        ("bounds", np.int64),  # (n_x) largest |x|
        # first entries in work.control
        ("x", np.int64),  # (n_x)
        ("x_new", np.int64),  # (n_x)
        ("e", np.int64),  # (n_e)
        ("q", np.int64),  # (n_q) measured now
        ("v", np.int64),  # (n_v)
        ("q_before", np.int64),  # (n_q) measured at the sample before
        ("queue", np.int64),  # (n_queue, 1 + n_commands) when each command acts, and what it is
        ("n_queue", np.int64),
        ("tau", np.int64),  # (n_v) of the rigid model, where is_computed_torque
    ],
    align=True,
)

# One row per command of these controllers.
COMMAND = np.dtype(
    [
        ("input", np.int64),  # in work.inputs
        ("feedforward", np.int64),  # signal row, -1 = none
        ("limit", np.float64),  # largest size, inf = none [N, N m]
        ("v", np.int64),  # velocity that the motor acts on
        ("link", np.int64),  # of a flexible joint: velocity of its link's side, else -1
        ("reference", np.int64),  # signal row of where the joint shall be, -1 = 0
    ],
    align=True,
)

# What a law looks at: a measured coordinate or velocity minus what it shall be.
FEEDBACK = np.dtype(
    [
        ("column", np.int64),  # in (q, v)
        ("reference", np.int64),  # signal row, -1 = none
        ("is_rate", np.int64),  # 1: minus the signal's rate
        ("offset", np.float64),  # minus this, too
    ],
    align=True,
)

# Coordinates of joints that sensors measure; attitudes and modal coordinates are known exactly.
ENCODER = np.dtype(
    [
        ("q", np.int64),  # coordinate
        ("v", np.int64),  # its rate, -1 = none of its own
        ("is_angle", np.int64),
    ],
    align=True,
)

# What a controller remembers from sample to sample, beside work.control.
CONTROLLER_WORK = np.dtype(
    [
        ("n_samples", np.int64),  # so far
        ("seed1", np.int64),  # states of the two generators of noise
        ("seed2", np.int64),
        ("first", np.int64),  # the oldest command on its way: row of the queue
        ("n_waiting", np.int64),  # commands on their way
    ],
    align=True,
)
