"""The build compiles when the sources changed, and for no other reason."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Builds a program, and writes down how it was called.
CARGO = """#!/bin/sh
[ "$1" != --version ] || { echo cargo 1.95.0; exit 0; }
echo "$*" >>"$CALLS"
mkdir -p target/debug target/release
for profile in debug release; do printf '#!/bin/sh\\n' >target/$profile/vitrine; done
chmod +x target/*/vitrine
"""


@pytest.fixture
def kit(tmp_path):
    """The scripts, sources of one file, and a cargo that only pretends."""
    kit = tmp_path / "kit"
    shutil.copytree(ROOT / "vm", kit / "vm")
    shutil.copy(ROOT / "rust-toolchain.toml", kit)
    (kit / "switch").mkdir()
    (kit / "switch/main.rs").write_text("fn main() {}")
    (kit / "controller").mkdir()
    (kit / "controller/compiling.py").write_text("")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in {"cargo": CARGO, "rustc": "#!/bin/sh\necho rustc 1.95.0\n"}.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    return kit


def calls_of(kit, *arguments, **settings):
    """How cargo was called by a build of this folder."""
    calls = kit / "calls"
    calls.unlink(missing_ok=True)
    environment = {
        "PATH": f"{kit.parent / 'tools'}:{os.environ['PATH']}",
        "HOME": str(kit.parent),
        "CALLS": str(calls),
        "VITRINE_PREBUILT": str(kit.parent / "nowhere"),
        **settings,
    }
    subprocess.run(["vm/build.sh", *arguments], cwd=kit, env=environment, check=True)
    return calls.read_text().splitlines() if calls.exists() else []


def test_a_second_build_compiles_nothing_and_a_change_does(kit):
    assert calls_of(kit) == ["build --locked --bins --examples"]
    assert (kit / "build/bin/vitrine-switch").resolve() == kit / "switch/target/debug/vitrine"
    assert calls_of(kit) == []
    (kit / "switch/main.rs").write_text("fn main() { panic!() }")
    assert calls_of(kit) == ["build --locked --bins --examples"]


def test_a_copied_folder_is_not_built_again(kit):
    calls_of(kit)
    copy = kit.parent / "copy with ümläuts"
    # As `cp -r` copies: every file is as young as the copy.
    shutil.copytree(kit, copy, symlinks=True, copy_function=shutil.copyfile)
    for script in (copy / "vm").glob("*.sh"):
        script.chmod(0o755)
    (copy / "switch/target/debug/vitrine").chmod(0o755)
    assert calls_of(copy) == []
    assert (copy / "build/bin/vitrine-programs").resolve() == copy / "switch/target/debug/vitrine"


def test_exported_settings_do_not_build_again(kit):
    calls_of(kit)
    assert calls_of(kit, VITRINE_PYTHON="build/venv/bin/python", RATE="5mbit") == []


def test_optimised_programs_serve_until_the_tests_want_their_own(kit):
    (optimised,) = calls_of(kit, "optimised")
    assert optimised.startswith("build --release --locked")
    assert (kit / "build/bin/vitrine-programs").resolve() == kit / "switch/target/release/vitrine"
    assert calls_of(kit) == []
    assert calls_of(kit, "optimised") == []
    assert calls_of(kit, "tests")[0] == "build --locked --bins --examples"
    assert (kit / "build/bin/vitrine-programs").resolve() == kit / "switch/target/debug/vitrine"
