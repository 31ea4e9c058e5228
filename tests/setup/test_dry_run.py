"""`vm/provision.sh --dry-run`: what would be done on which machine, without doing any of it."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Each distribution with its folder in the P4 project's package repository.
DISTRIBUTIONS = {
    ("debian", "12"): "Debian_12",
    ("debian", "13"): "Debian_13",
    ("ubuntu", "22.04"): "xUbuntu_22.04",
    ("ubuntu", "24.04"): "xUbuntu_24.04",
}


@pytest.fixture
def kit(tmp_path):
    """A copy of the scripts' inputs, so that a change they make would show."""
    shutil.copytree(ROOT / "vm", tmp_path / "vm", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "controller" / "telemetry", tmp_path / "controller" / "telemetry")
    for name in ("rust-toolchain.toml", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def dry_run(kit, *arguments, os_release="", **settings):
    if os_release:
        (kit / "os-release").write_text(os_release)
        arguments = ("os-release", *arguments)
    return subprocess.run(
        ["vm/provision.sh", "--dry-run", *arguments],
        cwd=kit,
        env={"PATH": "/usr/bin:/bin", "HOME": str(kit / "home"), **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def steps(result):
    """The lines behind the heading, without their dashes."""
    assert (result.returncode, result.stderr) == (0, "")
    heading, *lines = result.stdout.splitlines()
    assert heading.startswith("To become a lab machine, this ")
    assert all(line.startswith("- ") for line in lines)
    return [line.removeprefix("- ") for line in lines]


@pytest.mark.parametrize("architecture", ["amd64", "arm64"])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=" ".join)
def test_a_fresh_machine_gets_everything(kit, distribution, architecture):
    name, version = distribution
    plan = dry_run(kit, architecture, os_release=f'ID={name}\nVERSION_ID="{version}"\n')
    packages, rust, python, switch, tools, dissectors, shell, p4lang = steps(plan)
    assert f"this {name} {version} on {architecture} would" in plan.stdout
    assert packages.startswith("install the packages build-essential ca-certificates curl")
    assert " mininet " in packages
    assert rust.startswith("install Rust 1.") and rust.endswith(f"into {kit}/home/.cargo")
    assert "Python packages of vm/requirements.txt" in python
    assert switch.startswith("build the switch")
    assert tools == "install the tools tcpdump tshark git make gpg wireshark"
    assert "Wireshark" in dissectors
    assert shell == "put p4runtime-sh into /usr/local/bin"
    assert f"/{DISTRIBUTIONS[distribution]}, if it can be reached" in p4lang


def test_settings_leave_steps_out(kit):
    plan = dry_run(kit, os_release="ID=debian\nVERSION_ID=12\n", WIRESHARK="tshark", P4LANG="no")
    text = "\n".join(steps(plan))
    assert "install the tools tcpdump tshark git make gpg\n" in text
    assert "p4c" not in text


def test_programs_that_were_built_elsewhere_do_not_count_on_another_machine(kit):
    """/opt/vitrine of this machine says nothing about that one."""
    (kit / "opt" / "wheels").mkdir(parents=True)
    plan = dry_run(kit, os_release="ID=debian\nVERSION_ID=12\n", VITRINE_PREBUILT=str(kit / "opt"))
    assert any(step.startswith("install Rust") for step in steps(plan))


def test_a_dry_run_changes_nothing(kit):
    def contents():
        return {path: path.stat().st_mtime_ns for path in kit.rglob("*")}

    (kit / "os-release").write_text("ID=ubuntu\nVERSION_ID=24.04\n")
    before = contents()
    for arguments in ((), ("os-release",), ("os-release", "arm64")):
        assert dry_run(kit, *arguments).returncode == 0
    assert contents() == before


@pytest.mark.parametrize(
    ("os_release", "name"),
    [
        ('ID=fedora\nVERSION_ID="41"\n', "fedora 41"),
        ("ID=arch\n", "arch"),
        ("ID=ubuntu\nVERSION_ID=20.04\n", "ubuntu 20.04"),
        ("ID=debian\nVERSION_ID=11\n", "debian 11"),
        ("NAME=nothing\n", "unknown"),
    ],
)
def test_another_distribution_is_refused_by_name_with_what_to_install(kit, os_release, name):
    result = dry_run(kit, os_release=os_release)
    assert result.returncode == 1
    (sentence,) = result.stderr.splitlines()
    assert f"Cannot go on: this is '{name}', and packages are installed on Debian 12" in sentence
    assert "install build-essential" in sentence


def test_another_processor_is_refused(kit):
    result = dry_run(kit, "riscv64", os_release="ID=debian\nVERSION_ID=12\n")
    assert (result.returncode, result.stdout) == (1, "")
    assert "this machine's processor is 'riscv64', and the kit is for amd64" in result.stderr


def test_a_file_that_is_not_there_is_named(kit):
    result = dry_run(kit, "no-such-file")
    assert result.returncode == 1
    assert "there is no file no-such-file" in result.stderr


def test_an_unknown_option_is_refused_and_help_is_given(kit):
    def said(option):
        return subprocess.run(["vm/provision.sh", option], cwd=kit, capture_output=True, text=True)

    assert said("--dryrun").returncode == 1
    assert "--dryrun is no option: vm/provision.sh [--dry-run" in said("--dryrun").stderr
    assert said("--help").returncode == 0
    assert "vm/provision.sh --dry-run" in said("--help").stdout
