"""Violations that chaos and soak look for."""


class LawError(Exception):
    """Something that must hold does not."""
