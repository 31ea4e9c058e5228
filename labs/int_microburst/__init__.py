"""A microburst that counters do not show, found by packets' telemetry of the queues they left."""
