"""Which bodies move in a mode: shares of the kinetic energy."""

from __future__ import annotations

import numpy as np

from pliant.linear.transfer_matrix.chain import WORLD, Chain
from pliant.linear.transfer_matrix.natural import inertia
from pliant.linear.transfer_matrix.riccati import Motion


def kinetic_shares(chain: Chain, motion: Motion, value: complex, k: int) -> dict[str, float]:
    """Of every body in mode k; armatures count for the joint that they are in."""
    s2 = np.array([-(abs(value) ** 2)])
    own, joining = inertia(chain, s2, np.zeros(1))
    names = _names(chain)
    shares = dict.fromkeys(names, 0.0)
    for number, one in enumerate(chain.stations):
        x = np.zeros(6) if one.parent == WORLD else motion.x[one.parent][:, k]
        both = np.concatenate([x, motion.e[number][:, k]])
        block = np.asarray(joining[number]).reshape(len(both), len(both))
        energy = np.vdot(both, block @ both).real
        energy += np.vdot(motion.x[number][:, k], np.asarray(own[number]) @ motion.x[number][:, k]).real
        shares[names[number]] += float(energy)
    total = sum(shares.values()) or 1.0
    return {name: share / total for name, share in shares.items()}


def _names(chain: Chain) -> list[str]:
    """Of every station: the body it belongs to."""
    names = [""] * len(chain.stations)
    for i, link in enumerate(chain.model.links):
        if link.transmission is not None:
            continue
        names[chain.bodies[i]] = link.body.name
        for _, station in chain.nodes.get(i, ()):
            names[station] = link.body.name
    return names
