"""Files that root makes belong to the user behind sudo."""

import os
from pathlib import Path

import pytest

from controller import ownership

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
def test_a_single_file_is_given_and_a_link_is_not_followed(tmp_path, caller):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("/etc/hostname")
    for name in ("file", "link"):
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
