"""Beams: sections, mode shapes and shape integrals. numpy only; run once, when a model is packed."""
