"""`python -m vitrine COMMAND`: the command itself, in a Python that has all its packages.

`build/bin/vitrine` of a clone comes here by `vitrine.command.door`, which sets up what is missing.
"""

import sys

from vitrine.command.run import main

if __name__ == "__main__":
    sys.exit(main())
