"""Files that root makes belong to the user behind sudo."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from controller import ownership
from controller.errors import ControllerError
from controller.toolchain import ROOT
from topo.errors import ProcessError
from topo.process import Process

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def caller(monkeypatch):
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("SUDO_GID", "5678")


def owner(path):
    status = path.lstat()
    return status.st_uid, status.st_gid


@needs_root
def test_results_are_given_to_the_user_behind_sudo(tmp_path, caller):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "table.md").write_text("")
    ownership.give_to_caller(tmp_path)
    for path in (tmp_path, tmp_path / "lab", tmp_path / "lab" / "table.md"):
        assert owner(path) == (1234, 5678)


@needs_root
def test_a_single_file_or_socket_is_given_and_a_link_is_not_followed(tmp_path, caller):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
    for name in ("file", "link", "pipe", "socket"):
        ownership.give_to_caller(tmp_path / name)
        assert owner(tmp_path / name) == (1234, 5678)
    assert Path("/etc/hostname").stat().st_uid == 0


def test_without_sudo_without_root_and_without_results_nothing_happens(tmp_path, monkeypatch):
    monkeypatch.delenv("SUDO_UID", raising=False)
    ownership.give_to_caller(tmp_path)
    assert tmp_path.stat().st_uid == os.getuid()
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("SUDO_GID", "5678")
    ownership.give_to_caller(tmp_path / "none")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    ownership.give_to_caller(tmp_path)
    assert tmp_path.stat().st_uid == os.getuid()


@needs_root
def test_no_file_behind_a_link_is_given_away(tmp_path, caller):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "lab").symlink_to(outside)
    for path in (tmp_path / "out", tmp_path / "out" / "lab"):
        ownership.give_to_caller(path)
        assert owner(outside)[0] == owner(outside / "secret")[0] == 0


def plant(tmp_path, make):
    """A place below a folder of results, made by a user."""
    place = tmp_path / "out" / "lab" / "planted"
    place.parent.mkdir(parents=True)
    make(place)
    os.chown(place, 1234, 5678, follow_symlinks=False)
    return place


PLANTED = {
    "link": lambda place: place.symlink_to("/etc/hostname"),
    "link to a folder": lambda place: place.symlink_to("/etc"),
    "link upwards": lambda place: place.symlink_to(".."),
    "dangling link": lambda place: place.symlink_to("/nowhere/at/all"),
    "pipe": os.mkfifo,
}


@needs_root
@pytest.mark.parametrize("make", PLANTED.values(), ids=PLANTED)
def test_root_refuses_what_others_have_put_among_results(tmp_path, make):
    place = plant(tmp_path, make)
    with pytest.raises(ControllerError, match=f"{place} is .* made by user 1234"):
        ownership.refuse_links(tmp_path / "out")


@needs_root
def test_root_takes_its_own_links_and_those_within_a_folder(tmp_path):
    plant(tmp_path, lambda place: place.symlink_to("2026-11-28-1200"))
    (tmp_path / "out" / "elsewhere").symlink_to("/mnt")
    ownership.refuse_links(tmp_path / "out")
    ownership.refuse_links(tmp_path / "none")


def test_a_log_is_not_written_through_a_link_or_a_pipe(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("as it was")
    (tmp_path / "link.log").symlink_to(kept)
    os.mkfifo(tmp_path / "pipe.log")
    for name in ("link.log", "pipe.log"):
        with pytest.raises(ProcessError, match=f"cannot be started.*{name}"):
            Process(["true"], tmp_path / name)
    assert kept.read_text() == "as it was"


@needs_root
def test_a_command_of_root_ends_before_it_writes_through_a_link(tmp_path):
    plant(tmp_path, lambda place: place.symlink_to("/etc/hostname"))
    run = subprocess.run(
        [sys.executable, "-m", "vitrine", "results"],
        cwd=ROOT,
        env={**os.environ, "VITRINE_RESULTS": str(tmp_path / "out")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 1
    assert "planted is a link" in run.stderr
    assert run.stderr.count("\n") == 1
