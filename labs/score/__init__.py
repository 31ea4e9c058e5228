"""Telemetry systems scored against the true queue: docs/telemetry-score.md."""
