"""A run: options, stepping, recording, audit."""
