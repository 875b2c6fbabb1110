"""Studies: many runs of one robot, with other values of its parameters."""
