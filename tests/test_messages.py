"""A kit whose Python messages are not of its sources says so, instead of failing somewhere."""

import os
import shutil
import subprocess
import sys

import pytest

from controller.toolchain import ROOT

SOURCE = "switch/crates/messages/proto/vitrine/v1/world.proto"
MADE = "build/python/vitrine/v1"


@pytest.fixture
def kit(tmp_path):
    """Its package, a source, and what was made from it."""
    for file, text in {
        SOURCE: "message World {}",
        f"{MADE}/world.proto": "message World {}",
        f"{MADE}/world_pb2.py": "World = 1",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    (tmp_path / "vitrine").mkdir()
    shutil.copy(ROOT / "vitrine/__init__.py", tmp_path / "vitrine")
    return tmp_path


def imports(kit):
    """What a program says that imports them, and how it ends; of no other kit on this machine."""
    argv = [sys.executable, "-S", "-c", "from vitrine.v1 import world_pb2; print(world_pb2.World)"]
    path = os.pathsep.join([str(kit), str(kit / "build/python")])
    done = subprocess.run(argv, capture_output=True, text=True, env={"PYTHONPATH": path}, cwd=kit)
    return done.returncode, done.stdout + done.stderr


def test_messages_of_these_sources_are_taken_however_old(kit):
    os.utime(kit / MADE / "world_pb2.py", (0, 0))
    assert imports(kit) == (0, "1\n")


def test_messages_of_other_sources_are_refused_in_a_sentence(kit):
    (kit / SOURCE).write_text("message World {} message More {}")
    assert imports(kit) == (
        1,
        f"vitrine: the Python messages of {SOURCE} are of another version of it: run `make build`, "
        "which makes them and the programs that speak them.\n",
    )


def test_messages_that_are_missing_are_asked_for_in_a_sentence(kit):
    shutil.rmtree(kit / MADE)
    status, said = imports(kit)
    assert (status, said.count("\n")) == (1, 1)
    assert "are not made yet: run `make build`" in said


def test_an_installed_kit_without_sources_needs_none(kit):
    shutil.rmtree(kit / "switch")
    (kit / MADE / "world.proto").unlink()
    assert imports(kit) == (0, "1\n")
