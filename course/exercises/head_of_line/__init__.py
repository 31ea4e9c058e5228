"""Arbiters of a crossbar: PIM and iSLIP, and what a queue in front of it costs."""
