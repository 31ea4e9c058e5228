"""Telemetry reports, and whose packets filled which queue when."""
