"""Files that root makes for the user who called sudo are that user's: the network's, and its
results."""

from __future__ import annotations

import os
from pathlib import Path


def give_to_caller(path: Path) -> None:
    """Hands a file, or a folder with all that is in it, to the user behind sudo.

    Where nobody called sudo, or nothing is there, nothing happens.
    """
    user = os.environ.get("SUDO_UID")
    if user is None or os.geteuid() != 0 or not os.path.lexists(path):
        return
    group = os.environ.get("SUDO_GID", "-1")
    for each in (path, *path.rglob("*")):
        os.chown(each, int(user), int(group), follow_symlinks=False)
