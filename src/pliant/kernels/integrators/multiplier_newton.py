"""Multipliers of closed loops as unknowns of an implicit step (index 3). Imports _jit, algebra and system only.

    K da - (1 - alpha_f) B dl = r,   beta h^2 A da = -c:   da = K^-1 r + X dl,  X = (1 - alpha_f) K^-1 B,
    (A X) dl = -c / (beta h^2) - A K^-1 r
K Newton's matrix without loops, A = dc/dv, B = M^-1 A^T of the active constraints (closures/independent.py), c their
values at the end of the step. Virtual springs of stiffness k and damping d are c + (l + d c')/k = 0 in place of
c = 0, all of them: the same system with (s A X + 1/(k beta h^2)), s = 1 + d gamma/(k beta h), however stiff they are.

A row of A has the velocities between the frames of its loop and the world, K as a rule a block for each branch of the
tree (system/loop_tables.py), so A X has entries only where two loops share a branch. Multipliers are in the order of
the model there, not of the partition: neighbours are near the diagonal, and the factors have a narrow profile.
Reference: Arnold and Bruels (2007)."""

from pliant.kernels._jit import DERIVATIVE, kernel, routine
from pliant.kernels.algebra.lu import lu, lu_solve, lu_solve_block, lu_solve_profile, put_profile
from pliant.kernels.algebra.rank_deficient import solve_undetermined
from pliant.system.loop_tables import (
    CLOSURE_ROUNDING,
    CONSTRAINT_OF,
    FIRST_COLUMN,
    LAST_COLUMN,
    NUMBER_OF,
    RIGHT,
    SHARE,
)
from pliant.system.status import Status

call_derivative = DERIVATIVE.call

OK, SINGULAR_LOOP = int(Status.OK), int(Status.SINGULAR_LOOP)


@routine
def solve_blocks(memory, n, r):
    """r <- K^-1 r, n unknowns."""
    if memory.newton[0].is_coupled:
        lu_solve(memory.factor[0], memory.pivots[0], n, r)
    else:
        for b in range(1, memory.blocks.shape[0]):
            solve_block(memory, b, r)


@routine
def solve_block(memory, b, r):
    """The same in one branch."""
    lu_solve_block(memory.factor[0], memory.pivots[0], memory.blocks[b, 0], memory.blocks[b, 1], r)


@routine
def damping_factor(newton, closure, h):
    """s of virtual springs with dampers, 1 without."""
    return 1.0 + closure.spring_compliance * closure.spring_damping * newton.gamma / (newton.beta * h)


@routine
def number_multipliers(system, work):
    """Active constraints in ascending order."""
    places, number = work.multiplier_places, 0
    for k in range(len(system.constraints)):
        work.constraint_places[work.constraint_order[k]] = k
    for c in range(len(system.constraints)):
        places[NUMBER_OF, c] = -1
        if work.constraint_places[c] < work.closure[0].n_active:
            places[NUMBER_OF, c], places[CONSTRAINT_OF, number] = number, c
            number += 1


@kernel
def branch_of(system, memory, c, b):
    """The first (b = 0) or second branch in which constraint c moves K^-1, -1: none."""
    if memory.newton[0].is_coupled:
        return -b
    return system.constraints[c].branches[b]


@routine
def put_response(system, work, memory, p, n):
    """X[p] = (1 - alpha_f) K^-1 B of multiplier p."""
    c, x = work.multiplier_places[CONSTRAINT_OF, p], work.response[p]
    lift, factor = work.lift[work.constraint_places[c]], 1.0 - memory.newton[0].alpha_f
    for i in range(n):
        x[i] = 0.0
    for b in range(2):
        branch = branch_of(system, memory, c, b)
        if branch >= 0:
            of = system.branches[branch]
            for l in range(of.first, of.first + of.count):
                j = system.links[l]
                if memory.unknown_of[j] >= 0:
                    x[memory.unknown_of[j]] = factor * lift[j]
            solve_block(memory, branch, x)


@routine
def factor_multipliers(system, work, memory, t, h):
    """A, B at (t, y_new), where f_new has been evaluated last; X into work.response, factors of A X into
    work.dependent. K is factored."""
    newton, closure, X, S, places = (
        memory.newton[0],
        work.closure[0],
        work.response,
        work.dependent,
        work.multiplier_places,
    )
    damped = damping_factor(newton, closure, h)
    n, m = memory.jacobian.shape[0] - newton.n_coordinates, closure.n_active
    status = call_derivative(work.calls[0].constraint_matrices, (system, work, t, memory.y_new, memory.scratch[0]))
    if status != OK:
        return status
    number_multipliers(system, work)
    for p in range(m):
        put_response(system, work, memory, p, n)
        for i in range(m):
            S[p, i] = 0.0
    for p in range(m):
        for b in range(2):
            branch = branch_of(system, memory, places[CONSTRAINT_OF, p], b)
            if branch >= 0:
                of = system.branches[branch]
                for l in range(of.first_constraint, of.first_constraint + of.n_constraints):
                    row = places[NUMBER_OF, system.links[l]]
                    if row >= 0:
                        S[row, p] = damped * jacobian_product(system, work, memory, system.links[l], X[p])
    for p in range(m):
        S[p, p] += closure.spring_compliance / (newton.beta * h * h)
    if lu(S, work.dependent_pivots, m) >= 0:
        return SINGULAR_LOOP
    put_profile(S, m, places[FIRST_COLUMN], places[LAST_COLUMN])
    return OK


@routine
def jacobian_product(system, work, memory, c, x):
    """A[c] times the velocities among x."""
    row, total = system.constraints[c], 0.0
    for l in range(row.first, row.first + row.count):
        j = system.links[l]
        if memory.unknown_of[j] >= 0:
            total += work.constraint_jacobian[c, j] * x[memory.unknown_of[j]]
    return total


@routine
def add_multipliers(system, work, memory, h, r):
    """r = K^-1 r goes to da; the multipliers change with it. Values of the constraints are those at y_new."""
    newton, closure, dead, places = memory.newton[0], work.closure[0], work.dead_point[0], work.multiplier_places
    x = work.constraint_vectors[RIGHT]
    damped = damping_factor(newton, closure, h)
    n, m = memory.jacobian.shape[0] - newton.n_coordinates, closure.n_active
    for p in range(m):
        k = places[CONSTRAINT_OF, p]
        c = work.constraints[k]
        # near a dead point rounding is no gap
        is_closed = dead.is_rank_deficient and abs(c.value) <= CLOSURE_ROUNDING * system.constraints[k].scale
        gap = 0.0 if is_closed and closure.spring_compliance == 0.0 else c.value
        gap += closure.spring_compliance * (c.force + closure.spring_damping * c.rate)
        x[p] = -gap / (newton.beta * h * h) - damped * jacobian_product(system, work, memory, k, r)
    lu_solve_profile(work.dependent, work.dependent_pivots, places[FIRST_COLUMN], places[LAST_COLUMN], m, x)
    for p in range(m):
        add_multiplier(work, p, x[p], n, r)
    if dead.is_rank_deficient and closure.spring_compliance == 0.0:
        keep_undetermined(system, work, memory, r)


@routine
def add_multiplier(work, p, change, n, r):
    """Multiplier p changes, and r with it."""
    X = work.response[p]
    work.constraints[work.multiplier_places[CONSTRAINT_OF, p]].force += change
    for i in range(n):
        r[i] += X[i] * change


@routine
def keep_undetermined(system, work, memory, r):
    """What constraints do not determine near a dead point (closures/dead_points.py): a_new stays a. A X is about
    W (1 - a_f)/(1 - a_m)."""
    newton, x, order = memory.newton[0], work.constraint_vectors[RIGHT], work.constraint_order
    n, m, left = memory.jacobian.shape[0] - newton.n_coordinates, work.closure[0].n_active, memory.scratch[0]
    for i in range(n):
        k = memory.active[i]
        left[i] = memory.stages[0, k] - memory.stages[1, k] - r[i]
    for k in range(m):
        x[k] = jacobian_product(system, work, memory, order[k], left)
    solve_undetermined(work.gram, m, work.constraint_vectors[SHARE], work.dead_point[0].regularisation, x)
    for k in range(m):
        change = x[k] * (1.0 - newton.alpha_m) / (1.0 - newton.alpha_f)
        add_multiplier(work, work.multiplier_places[NUMBER_OF, order[k]], change, n, r)
