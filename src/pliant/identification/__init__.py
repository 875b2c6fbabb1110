"""Numbers of a model that are found from measurements, or chosen by an optimiser."""
