"""Telemetry in P4: the packets of a deep queue, and no others, are reported."""
