"""Before numpy is loaded: two workers whose BLAS threads spin against each other are slower than one thread each."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
