"""What routers count, for Prometheus."""
