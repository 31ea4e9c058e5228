"""Opens a page in the browser of whoever sits in front of the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import webbrowser

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XAUTHORITY")


def is_there() -> bool:
    """Whether there is a desktop."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


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
