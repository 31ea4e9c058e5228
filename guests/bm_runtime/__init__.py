"""The runtime interface of bmv2 switches: what its clients import."""
