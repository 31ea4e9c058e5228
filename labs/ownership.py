"""Results belong to the user who asked for them, also when the lab ran as root through sudo."""

from __future__ import annotations

import os
from pathlib import Path


def give_back(folder: Path) -> None:
    """Hands `folder` and its content to the user behind sudo; without either, does nothing."""
    user, group = os.environ.get("SUDO_UID"), os.environ.get("SUDO_GID")
    if user is None or group is None or not folder.exists():
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, int(user), int(group), follow_symlinks=False)
