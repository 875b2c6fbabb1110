"""Whether kernels check their indices, under NUMBA_BOUNDSCHECK=1: an array that is too short must be heard."""

import sys

import numpy as np

import pliant
from pliant.engine.prepared import Prepared

model = pliant.load("two-link-arm")
handle = Prepared(model, unchecked=True)
try:
    handle.forward_dynamics(np.zeros(1), np.zeros(1))
except IndexError:
    sys.exit(0)
sys.exit("no IndexError: kernels do not check their indices")
