"""The service `simple_pre_lag`: multicast groups with link aggregation groups."""

__all__ = ["SimplePreLAG", "ttypes"]
