"""Sizing router buffers: one Reno flow, and a queue of 2 to 72 packets."""
