"""Results belong to the user behind sudo."""

import os

import pytest

from labs import ownership


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_results_are_given_to_the_user_behind_sudo(tmp_path, monkeypatch):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "table.md").write_text("")
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("SUDO_GID", "5678")
    ownership.give_back(tmp_path)
    for path in (tmp_path, tmp_path / "lab", tmp_path / "lab" / "table.md"):
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


def test_without_sudo_and_without_results_nothing_happens(tmp_path, monkeypatch):
    monkeypatch.delenv("SUDO_UID", raising=False)
    ownership.give_back(tmp_path)
    assert tmp_path.stat().st_uid == os.getuid()
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("SUDO_GID", "5678")
    ownership.give_back(tmp_path / "none")
