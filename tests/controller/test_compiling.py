"""Which programs are compiled, and when; what is said of one with a mistake."""

import shutil

import pytest

from controller import compiling
from controller.compiling import CompileError, current, find
from controller.toolchain import Toolchain
from tests.controller import real_switch

pytestmark = real_switch.needed


@pytest.fixture
def kit(tmp_path, monkeypatch):
    """A copy of p4src with an output folder of its own."""
    sources = tmp_path / "p4src"
    shutil.copytree(compiling.SOURCES, sources)
    monkeypatch.setattr(compiling, "ROOT", tmp_path)
    monkeypatch.setattr(compiling, "SOURCES", sources)
    monkeypatch.setattr(compiling, "PROGRAMS", sources / "programs")
    monkeypatch.setattr(compiling, "_OUTPUT", tmp_path / "build" / "p4")
    includes = ("-I", str(sources / "include"), "-I", str(sources))
    monkeypatch.setattr(compiling, "_INCLUDES", includes)
    return tmp_path


def times(kit):
    return {file.stem: file.stat().st_mtime_ns for file in (kit / "build" / "p4").glob("*.json")}


def programs(kit):
    return {source.stem for source in (kit / "p4src" / "programs").glob("*.p4")}


def changed(before, after):
    return {name for name in after if after[name] != before.get(name)}


def test_only_what_has_changed_is_compiled(kit):
    assert compiling.main() == 0
    before = times(kit)
    assert set(before) == programs(kit)
    assert compiling.main() == 0
    assert times(kit) == before
    # int_router alone includes this one.
    source = kit / "p4src" / "control" / "int" / "watchlist.p4"
    source.write_text(source.read_text().replace("size = 1024", "size = 512"))
    assert compiling.main() == 0
    assert changed(before, times(kit)) == {"int_router"}


def test_a_program_with_a_mistake_stops_only_who_wants_it(kit, capsys):
    (kit / "p4src" / "programs" / "mine.p4").write_text("#include <core.p4>\ncontrol broken {\n")
    assert compiling.main() == 0
    told = capsys.readouterr().err
    assert "mine.p4" in told
    assert "all else works" in told
    assert set(times(kit)) == programs(kit) - {"mine"}
    with pytest.raises(CompileError, match=r"mine\.p4 does not compile:\n"):
        Toolchain.VITRINE.compiled("mine")
    assert Toolchain.VITRINE.compiled("router")[1]


def test_a_program_that_was_good_and_is_broken_now_is_not_used_as_it_was(kit):
    source = kit / "p4src" / "programs" / "router.p4"
    current(source)
    source.write_text(source.read_text() + "\nnonsense\n")
    with pytest.raises(CompileError, match="does not compile"):
        current(source)


def test_a_file_of_one_s_own_includes_the_kit_s_controls(kit, tmp_path):
    text = (kit / "p4src" / "programs" / "router.p4").read_text()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        own = text.replace('"../lib/', '"lib/').replace('"../control/', '"control/')
        (tmp_path / folder / "my.p4").write_text(own)
    stems = {current(find("my.p4", tmp_path / folder)) for folder in ("a", "b")}
    assert len(stems) == 2
    assert Toolchain.VITRINE.compiled(find(str(tmp_path / "a" / "my.p4")))[0].tables["ipv4_routes"]


def test_a_name_that_is_none_is_told_with_those_there_are():
    with pytest.raises(
        CompileError, match="no program 'ruoter'.*balancing_router, cable, int_router, .*router"
    ):
        find("ruoter")
    with pytest.raises(CompileError, match="there is no P4 program /none/my.p4"):
        find("/none/my.p4")
