"""Speedup: how much faster than its lines a crossbar must be, and what for."""
