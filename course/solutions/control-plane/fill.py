"""Puts what solutions share beside each: the finished file, and the reference they change."""

import shutil
from pathlib import Path

from course.exercise import FOLDER, SOLUTIONS


def fill(folder: Path, seed: str) -> None:
    """Wrong solutions are the reference but for one thing."""
    shutil.copy(FOLDER / "control_plane" / "start" / "frames.py", folder / "frames.py")
    shutil.copy(SOLUTIONS / "control-plane" / "right" / "control.py", folder / "reference.py")
