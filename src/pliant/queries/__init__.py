"""Properties of one state: the public calls on a model."""
