"""Crossbar arbiters: what they carry, how long cells wait, and who starves."""
