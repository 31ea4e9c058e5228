"""Congestion controls against each other: buffers, losses and round trips decide who wins."""
