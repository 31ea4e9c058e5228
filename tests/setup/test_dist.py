"""The contents of `make dist`: everything that is needed, nothing that must not go out, the same
twice.

The programs are stand-ins; tests/dist.sh tries the real ones.
"""

import base64
import csv
import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ("vitrine-p4c", "vitrine-sim", "vitrine-switch")


@pytest.fixture(scope="module")
def binaries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("binaries")
    (folder / "vitrine").write_text('#!/bin/sh\necho "$@"\n')
    (folder / "vitrine").chmod(0o755)
    for name in PROGRAMS:
        (folder / name).symlink_to("vitrine")
    return folder


def wheel(binaries, folder):
    folder.mkdir()
    command = [sys.executable, ROOT / "vm/dist/wheel.py", binaries, "amd64", "2.31", "1700000000"]
    subprocess.run([*command, folder], check=True)
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def made(binaries, tmp_path_factory):
    return wheel(binaries, tmp_path_factory.mktemp("made") / "wheel")


def test_the_wheel_says_where_it_runs_and_has_what_it_says(made):
    assert made.name.endswith("-py3-none-manylinux_2_31_x86_64.whl")
    with zipfile.ZipFile(made) as zipped:
        (record,) = (name for name in zipped.namelist() if name.endswith("/RECORD"))
        rows = {row[0]: row[1] for row in csv.reader(zipped.read(record).decode().splitlines())}
        assert set(rows) == set(zipped.namelist())
        for name, sum_ in rows.items():
            if name != record:
                digest = hashlib.sha256(zipped.read(name)).digest()
                assert sum_ == f"sha256={base64.urlsafe_b64encode(digest).decode().rstrip('=')}"
        (metadata,) = (name for name in zipped.namelist() if name.endswith("/METADATA"))
        wanted = zipped.read(metadata).decode()
    assert "Requires-Dist: grpcio==" in wanted and "Requires-Dist: PyYAML==" in wanted
    for developers in ("pytest", "ruff", "playwright", "setuptools"):
        assert f"Requires-Dist: {developers}" not in wanted


def test_no_solution_and_no_test_goes_out(made):
    with zipfile.ZipFile(made) as zipped:
        names = zipped.namelist()
    assert not [name for name in names if "solutions" in name or "/tests/" in name]
    assert not [name for name in names if "insides/examples" in name]
    assert not [name for name in names if "/build/p4/" in name and name.count("/") > 3]
    for part in (
        "labs/bufferbloat/topology.yaml",
        "course/exercises/fair_queues/start/scheduler.py",
    ):
        assert f"vitrine_kit/{part}" in names


def test_the_same_sources_make_the_same_bytes(made, binaries, tmp_path):
    assert wheel(binaries, tmp_path / "again").read_bytes() == made.read_bytes()


def test_what_is_installed_finds_itself(made, tmp_path):
    # As an installer does: unpack, and let Python read the file of paths.
    shutil.unpack_archive(made, tmp_path, "zip")
    ask = (
        f"import site; site.addsitedir({str(tmp_path)!r}); "
        "import labs, course.catalogue, vitrine.v1.world_pb2; "
        "from controller.toolchain import ROOT; print(ROOT)"
    )
    # -S: without the clone in this environment's path.
    paths = [path for path in sys.path if "-packages" in path]
    told = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path += {paths!r}; {ask}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout.strip() == str(tmp_path / "vitrine_kit"), told.stderr
    # The names of the one program lead to it; an installer makes them executable, `zip` does not.
    folder = tmp_path / "vitrine_kit/build/bin"
    for file in folder.iterdir():
        file.chmod(0o755)
    said = subprocess.run(
        [folder / "vitrine-sim", "queue", "a b"], capture_output=True, text=True, check=True
    )
    assert said.stdout == "vitrine-sim queue a b\n"


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="there is no dpkg-deb")
def test_the_package_puts_the_programs_where_set_up_and_people_find_them(binaries, tmp_path):
    kit = tmp_path / "kit"
    shutil.copytree(ROOT / "vm", kit / "vm")
    shutil.copy(ROOT / "LICENSE", kit)
    (kit / "out/dist").mkdir(parents=True)
    carried = tmp_path / "carried"
    shutil.copytree(binaries, carried / "bin", symlinks=True)
    (carried / "switch-sources").write_text("0\n")
    subprocess.run(
        [kit / "vm/dist/deb.sh", carried, "0.1.0", "amd64", "2.31", "1700000000"], check=True
    )
    package = kit / "out/dist/vitrine_0.1.0_amd64.deb"
    subprocess.run(["dpkg-deb", "--extract", package, tmp_path / "root"], check=True)
    for name in ("vitrine", *PROGRAMS):
        assert (tmp_path / "root/usr/bin" / name).readlink() == Path(f"/opt/vitrine/bin/{name}")
        assert (tmp_path / "root/opt/vitrine/bin" / name).stat().st_mode & 0o111
    assert (tmp_path / "root/opt/vitrine/switch-sources").is_file()
