"""The virtual world: hosts, cables and routers in virtual time, in one process without root."""
