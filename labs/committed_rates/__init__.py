"""Committed rates: meters, colours and classes of service on a router for PSA."""
