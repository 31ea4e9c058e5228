"""The ways to a lab machine: Vagrant, clouds, containers, and the scripts that they share."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import google.protobuf as protobuf
import pytest
import yaml
from google.protobuf.internal import api_implementation

ROOT = Path(__file__).parents[2]
VM = ROOT / "vm"
SCRIPTS = sorted(VM.glob("*.sh"))
# Sourced files have no first line of their own that would name their shell.
SOURCED = {
    "chroot.sh",
    "distribution.sh",
    "jobs.sh",
    "rust.sh",
    "say.sh",
    "sources.sh",
    "worlds.sh",
}


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
        ["shellcheck", "--shell=bash", "--external-sources", excluded, script],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""


def settings(text):
    """The names that versions.env gives a value to."""
    return re.findall(r'^: "\$\{(\w+):=', text, re.MULTILINE)


def test_versions_can_be_sourced_and_overridden():
    names = settings((VM / "versions.env").read_text())
    assert {"SUITE", "P4LANG_P4C_VERSION", "P4LANG_BMV2_VERSION"} <= set(names)
    said = subprocess.run(
        ["bash", "-euc", ". vm/versions.env; echo $SUITE $IMAGE_GB"],
        cwd=ROOT,
        env={"SUITE": "trixie"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said == "trixie 8\n"


def test_every_setting_of_versions_is_used():
    used = "".join(path.read_text() for path in VM.iterdir() if path.suffix in (".sh", ".py"))
    used += (VM / "Containerfile").read_text()
    # Of these one is chosen by the architecture.
    used = used.replace("RUSTUP_SHA256_$architecture", "RUSTUP_SHA256_amd64 RUSTUP_SHA256_arm64")
    for name in settings((VM / "versions.env").read_text()):
        assert name in used, name


def test_rust_is_the_one_that_the_switch_asks_for():
    """rustup installs rust-toolchain.toml's; Cargo refuses anything older than rust-version."""
    (pinned,) = re.findall(r'^channel = "(.*)"$', (ROOT / "rust-toolchain.toml").read_text(), re.M)
    manifest = (ROOT / "switch" / "Cargo.toml").read_text()
    (least,) = re.findall(r'^rust-version = "(.*)"$', manifest, re.M)
    assert pinned.split(".")[:2] == least.split(".")


def requirements():
    """Name and version of each line of requirements.txt that is no comment."""
    lines = (VM / "requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def test_every_python_package_has_one_version():
    assert all(re.fullmatch(r"\d+(\.\d+)+", version) for version in requirements().values())


def test_messages_are_read_by_a_compiled_runtime():
    """The slow pure-Python runtime of requirements.txt works too, so nobody would notice it."""
    (override,) = re.findall(r"^protobuf==(.*)$", (VM / "overrides.txt").read_text(), re.M)
    assert protobuf.__version__ == override
    assert api_implementation.Type() != "python"


def test_the_kit_s_python_packages_ask_for_nothing_that_is_not_pinned():
    project = (ROOT / "pyproject.toml").read_text()
    lists = re.findall(r"^(?:dependencies|labs) = \[(.*)\]$", project, re.M)
    assert len(lists) == 2
    for wish in re.findall(r'"([^"]+)"', ",".join(lists)):
        name, *least = wish.split(">=")
        assert name in requirements(), name
        if least:
            # Numbers compare as numbers: 1.10 is newer than 1.9.
            pinned, wanted = (
                [int(part) for part in version.split(".")]
                for version in (requirements()[name], least[0])
            )
            assert pinned >= wanted, name


def test_the_documents_name_the_packages_and_the_distributions_of_the_scripts():
    text = (VM / "packages.sh").read_text()
    packages = re.findall(r'^    "([\w.-]+) ', text, re.M)
    documented = (ROOT / "docs" / "set-up.md").read_text()
    assert ", ".join(packages) + "." in documented
    table = (VM / "distribution.sh").read_text()
    known = re.findall(r'^    "(debian|ubuntu) ([\d.]+) ', table, re.M)
    assert len(known) == 4
    readme = (VM / "README.md").read_text()
    for _, version in known:
        for page in (documented, readme, table.split("distributions_named=")[1]):
            assert re.search(rf"\b{re.escape(version)}\b", page), version


# ---- Vagrant, clouds, containers -----------------------------------------------------------------


def test_every_way_runs_the_provisioning_script():
    for name in ("Vagrantfile", "cloud-init.yaml", "Containerfile", "rootfs.sh"):
        assert "vm/provision.sh" in (VM / name).read_text(), name


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not installed")
def test_the_vagrantfile_is_ruby():
    subprocess.run(["ruby", "-c", VM / "Vagrantfile"], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("vagrant") is None, reason="vagrant is not installed")
def test_vagrant_accepts_the_vagrantfile(tmp_path):
    """Providers are left out: neither VirtualBox nor libvirt need be there."""
    done = subprocess.run(
        ["vagrant", "validate", "--ignore-provider"],
        cwd=VM,
        env={
            **os.environ,
            "VAGRANT_HOME": str(tmp_path / "home"),
            "VAGRANT_DOTFILE_PATH": str(tmp_path / "dot"),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


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


@pytest.mark.skipif(shutil.which("cloud-init") is None, reason="cloud-init is not installed")
def test_the_cloud_s_user_data_fits_cloud_init_s_schema():
    subprocess.run(
        ["cloud-init", "schema", "--config-file", VM / "cloud-init.yaml"],
        check=True,
        capture_output=True,
    )


INSTRUCTIONS = {"ARG", "FROM", "RUN", "WORKDIR", "COPY", "CMD"}


def test_the_container_file_holds_instructions_that_engines_know():
    text = re.sub(r"^#.*\n", "", (VM / "Containerfile").read_text(), flags=re.MULTILINE)
    # A line that ends in a backslash goes on in the next one.
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    words = [line.split()[0] for line in lines]
    assert set(words) <= INSTRUCTIONS
    assert words[:2] == ["ARG", "FROM"]
    # Each stage has a name that a later one uses; the last one is the machine.
    stages = re.findall(r"^FROM \S+ AS (\w+)$", text, re.M)
    for stage in stages:
        assert re.search(rf"^(FROM |COPY --from=){stage}\b", text, re.M), stage
    for line in lines:
        if line.startswith("RUN "):
            subprocess.run(["sh", "-n", "-c", line[4:]], check=True)
    # The folder that is copied is the repository's, without what a build leaves.
    assert {"build/", "out/", "switch/target/"} <= set((ROOT / ".dockerignore").read_text().split())


def test_a_container_is_built_from_the_debian_of_the_settings():
    (line,) = re.findall(r"^ARG DEBIAN_IMAGE=(\S+)$", (VM / "Containerfile").read_text(), re.M)
    assert f'"${{DEBIAN_IMAGE:={line}}}"' in (VM / "versions.env").read_text()
