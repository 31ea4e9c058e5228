"""Where the process answers that a network in virtual time lives in."""

import tempfile

from controller.addresses import socket_of
from labs.worlds.virtual import server


def test_a_folder_for_temporary_files_may_have_a_name_too_long_for_a_socket(tmp_path, monkeypatch):
    deep = tmp_path / ("deep" * 30)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with server.serving(tmp_path / "world.log") as address:
        assert socket_of(address).is_socket()
    assert not socket_of(address).exists()
