"""Opens a page in the browser of the user at this machine's desktop."""

from __future__ import annotations

import contextlib
import html
import os
import shutil
import subprocess
import tempfile
import webbrowser
from collections.abc import Iterator
from pathlib import Path

from controller.ownership import give_to_caller

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XAUTHORITY")
_FORWARD = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>Vitrine</title>
<a href="{url}">The glass</a>
"""


def is_there() -> bool:
    """Whether there is a desktop."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


@contextlib.contextmanager
def shown(url: str, folder: Path) -> Iterator[None]:
    """Opens an address that is a secret, if there is a desktop, for the length of a `with` block.

    Every user can read the arguments of a browser's process. So the browser gets the name of a file
    in `folder` that only its user can read and that leads to the address. A browser in a sandbox
    reads no file below /tmp, and none in a hidden folder.
    """
    if not is_there():
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    # Made with mode 0600 and a name of its own.
    handle, name = tempfile.mkstemp(prefix="glass-", suffix=".html", dir=folder)
    file = Path(name)
    try:
        with os.fdopen(handle, "w") as opened:
            opened.write(_FORWARD.format(url=html.escape(url)))
        give_to_caller(file)
        show(file.as_uri())
        yield
    finally:
        file.unlink(missing_ok=True)


def show(url: str) -> None:
    """Opens a page, if there is a desktop. A network is root's, but its browser must not be."""
    if not is_there():
        return
    user, opener = os.environ.get("SUDO_USER", ""), shutil.which("xdg-open")
    if os.geteuid() != 0:
        webbrowser.open(url)
    elif user and opener:
        display = [f"{name}={os.environ[name]}" for name in _DISPLAYS if name in os.environ]
        subprocess.Popen(
            ["sudo", "-u", user, "env", *display, opener, url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
