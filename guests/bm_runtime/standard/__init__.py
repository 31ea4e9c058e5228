"""The service `standard`: tables, counters, meters, registers and the rest of a program."""

__all__ = ["Standard", "ttypes"]
