"""The robot, still or moving."""
