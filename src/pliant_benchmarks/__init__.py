"""pliant against its peers: models, peers, timing, and one row per line (lines.py)."""

import os

# before numpy is loaded: threads of BLAS that wait in vain, after the matrices of a model, would count as CPU time
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
