"""What the course tells its user and not the student's program."""


class CourseError(Exception):
    """Something that the user of the command can mend; its text says how."""
