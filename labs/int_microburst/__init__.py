"""A microburst that counters do not show, found by what packets tell of the queues they left."""
