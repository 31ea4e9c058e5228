"""A buffer that all ports share: dynamic thresholds, lock-out and incast."""
