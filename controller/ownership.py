"""Files that root makes for the user who called sudo are that user's: the network's, and its
results."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from controller.errors import ControllerError


def give_to_caller(path: Path) -> None:
    """Hands a file, or a folder with all that is in it, to the user behind sudo.

    Where nobody called sudo, or nothing is there, nothing happens.
    """
    user = os.environ.get("SUDO_UID")
    if user is None or os.geteuid() != 0 or not os.path.lexists(path):
        return
    user_id, group_id = int(user), int(os.environ.get("SUDO_GID", "-1"))
    os.chown(path, user_id, group_id, follow_symlinks=False)
    if not stat.S_ISDIR(path.lstat().st_mode):
        return
    # By descriptors: that user may replace a folder by a link while root walks.
    for _, folders, files, at in os.fwalk(path):
        for name in (*folders, *files):
            os.chown(name, user_id, group_id, dir_fd=at, follow_symlinks=False)


def refuse_links(folder: Path) -> None:
    """Raises ControllerError if root would write through what another user has put below a folder.

    Results and logs belong to the user who called sudo, so root finds files there that are not its
    own: a link, or a pipe, where it is about to write. Links that root has made are fine, and so
    are those from one name in a folder to another, as `latest`.
    """
    if os.geteuid() != 0:
        return
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            found = Path(place, name)
            mode = found.lstat()
            is_plain = stat.S_ISDIR(mode.st_mode) or stat.S_ISREG(mode.st_mode)
            if is_plain or mode.st_uid == 0 or _stays(found):
                continue
            kind = "a link" if found.is_symlink() else "neither a file nor a folder"
            raise ControllerError(
                f"{found} is {kind}, made by {_name_of(mode.st_uid)}: root writes below {folder}, "
                "and nowhere else. Remove it first."
            )


def open_no_link(path: str, flags: int) -> int:
    """An opener for `open`: fails where the file is a link, and waits for no reader of a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


def _stays(link: Path) -> bool:
    """Whether a link leads to a name in its own folder."""
    if not link.is_symlink():
        return False
    target = str(link.readlink())
    return "/" not in target and target not in (".", "..")


def _name_of(user_id: int) -> str:
    # A web page runs this module in a Python that has no pwd.
    import pwd

    try:
        return pwd.getpwuid(user_id).pw_name
    except KeyError:
        return f"user {user_id}"
