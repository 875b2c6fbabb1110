"""Conditions of order of Runge-Kutta methods."""

import numpy as np


def elementary_weights(tableaus, highest):
    """(order, Phi of every stage, gamma) of all rooted trees with as many kinds of edges as there are tableaus with
    common nodes (Hairer, Norsett, Wanner I, II.2 and II.15): a method is of order p if b.Phi = 1/gamma for all of them
    up to p vertices."""
    ones = np.ones(len(tableaus[0]))
    trees = {1: [(ones, 1)]}
    for n in range(2, highest + 1):
        branches = [
            (m, A @ phi, gamma)
            for m in range(1, n)
            for phi, gamma in trees[m]
            for A in (tableaus if m > 1 else tableaus[:1])  # a leaf gives the nodes, which are common
        ]

        def grown(first, left, phi, gamma, n=n, branches=branches):
            if left == 0:
                yield phi, n * gamma
            for k in range(first, len(branches)):
                m, factor, own = branches[k]
                if m <= left:
                    yield from grown(k, left - m, phi * factor, gamma * own)

        trees[n] = list(grown(0, n - 1, ones, 1))
    return [(n, phi, gamma) for n, found in trees.items() for phi, gamma in found]
