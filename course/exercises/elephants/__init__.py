"""A count-min sketch in P4 that marks the packets of large flows."""
