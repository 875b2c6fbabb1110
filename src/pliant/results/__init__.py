"""Recorded motion at any time."""
