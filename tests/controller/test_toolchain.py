"""The choice of compiler and switch, and the message when a tool is missing."""

import shlex

import pytest

from controller import toolchain
from controller.toolchain import Toolchain, ToolchainError


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A path with nothing on it, and a way to put a program there."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def add(name, script="exit 0"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return add


def test_ours_is_the_default():
    assert Toolchain.named(None) is Toolchain.VITRINE
    assert Toolchain.named("") is Toolchain.VITRINE
    assert Toolchain.named("p4lang") is Toolchain.P4LANG


def test_another_name_is_refused_with_the_names_there_are():
    with pytest.raises(ToolchainError, match="--toolchain bmv2.*vitrine, p4lang"):
        Toolchain.named("bmv2")


def test_ours_needs_nothing_on_the_path(path):
    Toolchain.VITRINE.check()


def test_whatever_is_missing_of_the_other_one_is_named(path):
    with pytest.raises(ToolchainError, match="p4c-bm2-ss or p4c and simple_switch_grpc"):
        Toolchain.P4LANG.check()
    path("p4c")
    assert Toolchain.P4LANG.missing() == ["simple_switch_grpc"]
    path("simple_switch_grpc")
    Toolchain.P4LANG.check()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("p4c-bm2-ss", ["-o", "{stem}.json", "--p4runtime-files", "{stem}.p4info.txtpb"]),
        # The driver names the JSON after the source, in the folder that it is given.
        ("p4c", ["--target", "bmv2", "--arch", "v1model", "-o", "{folder}"]),
    ],
)
def test_the_compiler_that_is_there_gets_our_v1model(path, tmp_path, name, arguments):
    # A line each, because folders may have spaces in their names.
    path(name, f"printf '%s\\n' \"$@\" > {shlex.quote(str(tmp_path / 'said'))}")
    stem = tmp_path / "out" / "router"
    toolchain.compile_by_p4c(tmp_path / "router.p4", stem)
    said = (tmp_path / "said").read_text().splitlines()
    assert said[:4] == ["-I", str(toolchain.SOURCES / "include"), "-I", str(toolchain.SOURCES)]
    wanted = [each.format(stem=stem, folder=stem.parent) for each in arguments]
    assert said[4 : 4 + len(wanted)] == wanted
    assert said[-1] == str(tmp_path / "router.p4")


def test_what_the_compiler_complains_of_is_told(path, tmp_path):
    path("p4c-bm2-ss", 'echo "router.p4(3): error: no such field" >&2; exit 1')
    with pytest.raises(ToolchainError, match=r"router\.p4\(3\): error: no such field"):
        toolchain.compile_by_p4c(tmp_path / "router.p4", tmp_path / "router")
