"""Which digits of a run are right: the same model under other methods, tolerances, starts and numbers of modes."""
