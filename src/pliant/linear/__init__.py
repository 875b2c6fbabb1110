"""Small motions: linear models of a robot about a state, natural frequencies and modes."""
