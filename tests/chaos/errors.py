"""What chaos and soak are there to find."""


class LawError(Exception):
    """Something that must hold does not."""
