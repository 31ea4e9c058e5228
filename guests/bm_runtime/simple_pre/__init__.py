"""The service `simple_pre`: multicast groups."""

__all__ = ["SimplePre", "ttypes"]
