"""What a run records until Python takes it away: rows, dense pieces, phases. Imports _jit only."""

from pliant.kernels._jit import routine


@routine
def is_full(stepping, memory):
    """Room is kept for the most one step can record: two rows (before and after a jump), one piece, all events twice
    (as located, and as forces decide what sticks), one phase."""
    n_events = memory.fired.shape[0]
    return (
        (stepping.wants_rows == 1 and stepping.n_rows + 2 > memory.rows.shape[0])
        or (stepping.wants_dense == 1 and stepping.n_pieces + 1 > memory.piece_times.shape[0])
        or stepping.n_log + 2 * n_events > memory.log.shape[0]
        or (stepping.wants_rows == 1 and stepping.n_phases + 1 > memory.phase_times.shape[0])
    )


@routine
def record_row(stepping, y, inputs, rows):
    if stepping.wants_rows == 1:
        rows[stepping.n_rows, 0] = stepping.t
        for i in range(y.shape[0]):
            rows[stepping.n_rows, 1 + i] = y[i]
        stepping.n_rows += 1
        record_inputs(stepping, inputs, rows)


@routine
def record_inputs(stepping, inputs, rows):
    """Inputs of the newest row: at a sampling instant those held from then on."""
    last, first = stepping.n_rows - 1, rows.shape[1] - inputs.shape[0]
    if last >= 0 and rows[last, 0] == stepping.t:
        for i in range(inputs.shape[0]):
            rows[last, first + i] = inputs[i]


@routine
def record_piece(stepping, h, dense, times, terms):
    """Dense output of the step of length h that begins at t."""
    times[stepping.n_pieces, 0] = stepping.t
    times[stepping.n_pieces, 1] = h
    for k in range(dense.shape[0]):
        for i in range(dense.shape[1]):
            terms[stepping.n_pieces, k, i] = dense[k, i]
    stepping.n_pieces += 1


@routine
def record_phase(stepping, phase, times, phases):
    """The whole phase, valid from t on."""
    if stepping.wants_rows == 1:
        times[stepping.n_phases] = stepping.t
        for k in range(phase.shape[0]):
            phases[stepping.n_phases, k] = phase[k]
        stepping.n_phases += 1
