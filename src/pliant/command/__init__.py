"""The command `pliant`."""
