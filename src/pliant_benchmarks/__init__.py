"""pliant against its peers: models, peers, timing, and one row per line (lines.py)."""
