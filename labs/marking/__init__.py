"""Marks instead of drops: ECN with Reno, DCTCP, and L4S with Prague beside Cubic."""
