"""Closed loops in numpy: constraints, assembly, motion."""
