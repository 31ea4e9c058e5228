"""The counters of routers, for Prometheus."""
