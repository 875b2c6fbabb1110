"""Python's hand on the kernels: prepared models, closures, arguments, threads."""
