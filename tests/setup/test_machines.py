"""The ways to a lab machine: Vagrant, clouds, containers, and the scripts that they share."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
VM = ROOT / "vm"
SCRIPTS = sorted(VM.glob("*.sh"))
# What is sourced has no first line of its own that would name its shell.
SOURCED = {"chroot.sh", "rust.sh", "say.sh"}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_script_is_bash_and_stops_at_the_first_error(script):
    text = script.read_text()
    subprocess.run(["bash", "-n", script], check=True)
    if script.name in SOURCED:
        assert "To be sourced." in text
    else:
        assert text.startswith("#!/usr/bin/env bash\n") and "\nset -euo pipefail\n" in text


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(script):
    # SC1090, SC1091: files that are sourced by a name known at run time only. SC2015: `a && b || c`
    # is meant as it stands. SC2153: sudo's own variables.
    excluded = "--exclude=SC1090,SC1091,SC2015,SC2153"
    done = subprocess.run(
        ["shellcheck", "--shell=bash", excluded, script], capture_output=True, text=True
    )
    assert done.stdout == ""


def settings(text):
    """The names that versions.env gives a value to."""
    return re.findall(r'^: "\$\{(\w+):=', text, re.MULTILINE)


def test_versions_can_be_sourced_and_overridden():
    names = settings((VM / "versions.env").read_text())
    assert {"DEBIAN_RELEASE", "P4LANG_P4C_VERSION", "P4LANG_BMV2_VERSION"} <= set(names)
    said = subprocess.run(
        ["bash", "-euc", ". vm/versions.env; echo $DEBIAN_RELEASE $IMAGE_GB"],
        cwd=ROOT,
        env={"DEBIAN_RELEASE": "trixie"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said == "trixie 8\n"


def test_every_setting_of_versions_is_used():
    used = "".join(path.read_text() for path in VM.iterdir() if path.suffix in (".sh", ".py"))
    used += (VM / "Containerfile").read_text()
    for name in settings((VM / "versions.env").read_text()):
        assert name in used, name


# ---- Vagrant, clouds, containers -----------------------------------------------------------------


def test_every_way_runs_the_provisioning_script():
    for name in ("Vagrantfile", "cloud-init.yaml", "Containerfile", "rootfs.sh"):
        assert "vm/provision.sh" in (VM / name).read_text(), name


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not installed")
def test_the_vagrantfile_is_ruby():
    subprocess.run(["ruby", "-c", VM / "Vagrantfile"], check=True, capture_output=True)


def test_the_vagrantfile_is_for_both_providers_and_every_block_ends():
    text = re.sub(r"#.*", "", (VM / "Vagrantfile").read_text())
    assert re.findall(r'provider "(\w+)"', text) == ["virtualbox", "libvirt"]
    assert len(re.findall(r"\bdo\b", text)) == len(re.findall(r"^\s*end$", text, re.MULTILINE))


def test_the_cloud_s_user_data_is_cloud_config():
    text = (VM / "cloud-init.yaml").read_text()
    # Without this first line cloud-init takes it for a script.
    assert text.startswith("#cloud-config\n")
    data = yaml.safe_load(text)
    assert set(data) == {"package_update", "packages", "write_files", "final_message"}
    (file,) = data["write_files"]
    assert (file["path"], file["permissions"]) == ("/usr/local/bin/vitrine-provision", "0755")
    subprocess.run(["sh", "-n"], input=file["content"], text=True, check=True)


INSTRUCTIONS = {"ARG", "FROM", "RUN", "WORKDIR", "COPY", "CMD"}


def test_the_container_file_holds_instructions_that_engines_know():
    text = re.sub(r"^#.*\n", "", (VM / "Containerfile").read_text(), flags=re.MULTILINE)
    # A line that ends in a backslash goes on in the next one.
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    words = [line.split()[0] for line in lines]
    assert set(words) <= INSTRUCTIONS
    assert words[:2] == ["ARG", "FROM"]
    for line in lines:
        if line.startswith("RUN "):
            subprocess.run(["sh", "-n", "-c", line[4:]], check=True)
    # The folder that is copied is the repository's, without what a build leaves.
    assert {"build/", "out/", "switch/target/"} <= set((ROOT / ".dockerignore").read_text().split())


def test_a_container_is_built_from_the_debian_of_the_settings():
    (line,) = re.findall(r"^ARG DEBIAN_IMAGE=(\S+)$", (VM / "Containerfile").read_text(), re.M)
    assert f'"${{DEBIAN_IMAGE:={line}}}"' in (VM / "versions.env").read_text()
