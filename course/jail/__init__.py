"""Where what students wrote runs, and can do no harm: `__main__` says what it may do in there.

`walls` keeps it in, `calls` forbids calls of the system, `watch` counts what it uses.
"""

# The jail's exit status without a wall, or after it ended the program itself.
EXIT_NO_WALL = 97
EXIT_NO_MEMORY = 96
EXIT_NO_TIME = 95
# The part of the environment that a program sees.
KEPT = ("PATH", "LANG", "PYTHONPATH", "PYTHONSAFEPATH", "PYTHONDONTWRITEBYTECODE")
