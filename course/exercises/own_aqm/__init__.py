"""CoDel in P4: who is dropped while packets wait too long."""
