"""Telemetry reports, and the packets that filled each queue."""
