"""Errors for the course's user, as opposed to those of a student's program."""


class CourseError(Exception):
    """An error that the user of the command can correct; its text says how."""


class VirtualOnly(Exception):  # noqa: N818 - the case is checked, but elsewhere
    """A live check needs what this machine does not have; its text says what."""
