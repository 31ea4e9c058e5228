"""Active queue management: tail drop, RED, CoDel and PIE before the same line."""
