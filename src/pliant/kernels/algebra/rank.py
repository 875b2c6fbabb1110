"""Square systems that may be singular: elimination with full pivoting, in place; what has no pivot stays zero."""

from pliant.kernels._jit import routine


@routine
def eliminate(A, rows, columns, n, least):
    """Factors of A[rows, columns] in place, largest pivot first, until one is below `least` of the first. The rank."""
    for k in range(n):
        rows[k], columns[k] = k, k
    first = 0.0
    for k in range(n):
        best, p, c = 0.0, k, k
        for i in range(k, n):
            for j in range(k, n):
                if abs(A[rows[i], columns[j]]) > best:
                    best, p, c = abs(A[rows[i], columns[j]]), i, j
        first = max(first, best)
        if not best > least * first:
            return k
        rows[k], rows[p] = rows[p], rows[k]
        columns[k], columns[c] = columns[c], columns[k]
        top = A[rows[k]]
        for i in range(k + 1, n):
            row = A[rows[i]]
            factor = row[columns[k]] / top[columns[k]]
            row[columns[k]] = factor
            for j in range(k + 1, n):
                row[columns[j]] -= factor * top[columns[j]]
    return n


@routine
def eliminated_solve(A, rows, columns, rank, n, b, x):
    """x of A x = b, zero where there was no pivot; b is overwritten."""
    for k in range(rank):
        for i in range(k):
            b[rows[k]] -= A[rows[k], columns[i]] * b[rows[i]]
    for k in range(n):
        x[columns[k]] = 0.0
    for k in range(rank - 1, -1, -1):
        total = b[rows[k]]
        for j in range(k + 1, rank):
            total -= A[rows[k], columns[j]] * x[columns[j]]
        x[columns[k]] = total / A[rows[k], columns[k]]
