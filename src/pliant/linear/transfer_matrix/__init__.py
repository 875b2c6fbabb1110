"""The classical transfer matrix method on any tree of bodies and beams, in Riccati form."""
