"""A congestion control in Python: full lines, few losses, room for others."""
