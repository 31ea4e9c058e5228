"""A router in P4: longest prefix, TTL, checksum, and what it must drop."""
