"""Crossbar arbiters: their throughput, the wait of cells, and starvation."""
