"""What the course tells its user and not the student's program."""


class CourseError(Exception):
    """Something that the user of the command can mend; its text says how."""


class VirtualOnly(Exception):  # noqa: N818 - the case is checked, but elsewhere
    """A live check needs what this machine does not have; its text says what."""
