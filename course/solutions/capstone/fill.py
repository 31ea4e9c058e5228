"""Puts together a solution: what it shares with the reference, and what is its own."""

import shutil
from pathlib import Path

import yaml

from course.exercise import FOLDER, SOLUTIONS, Work
from course.exercises.capstone.exercise import voice_port
from course.process import Runner

HERE = SOLUTIONS / "capstone"


def fill(folder: Path, seed: str) -> None:
    """A wrong solution is the reference but for one file, or for some words of router.p4."""
    reference = SOLUTIONS / "control-plane" / "right" / "control.py"
    shutil.copy(FOLDER / "control_plane" / "start" / "frames.py", folder / "frames.py")
    shutil.copy(reference, folder / "reference.py")
    if not (folder / "control.py").exists():
        shutil.copy(reference, folder / "control.py")
    text = (HERE / "right" / "router.p4").read_text()
    told = folder / "refused.yaml"
    changes = yaml.safe_load(told.read_text()).get("changes", ()) if told.exists() else ()
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    port = voice_port(Work(folder, folder, seed, Runner()))
    (folder / "router.p4").write_text(text.replace("VOICE_PORT", str(port)))
