"""Network address and port translation in P4 for the Portable Switch Architecture."""
