"""When something is missing: one clear sentence, and nothing half-done."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The commands that the set-up scripts call; everything else is "not installed" on the test's path.
SHELL_TOOLS = (
    *(
        "basename",
        "bash",
        "cat",
        "chmod",
        "cmp",
        "cp",
        "cut",
        "dirname",
        "env",
        "find",
        "head",
        "id",
        "ln",
        "mkdir",
        "mount",
        "realpath",
        "rm",
        "sed",
        "setpriv",
    ),
    *("sh", "sha256sum", "sort", "tail", "touch", "uname", "unshare", "xargs"),
)
# The user nobody, without any of root's rights.
AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")
# Root that may not make namespaces, as in a plain container.
WITHOUT_NAMESPACES = ("setpriv", "--bounding-set=-sys_admin")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give rights away")


@pytest.fixture
def machine():
    """A copy of the scripts and a path with the shell's tools alone; others may read it, too."""
    # Also for a user with a strict umask, whose TMPDIR others cannot enter.
    before = os.umask(0o022)
    try:
        yield from _machine()
    finally:
        os.umask(before)


def _machine():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        place = Path(folder)
        place.chmod(0o755)
        shutil.copytree(ROOT / "vm", place / "vm")
        subprocess.run(["chmod", "-R", "a+rX", place / "vm"], check=True)
        shutil.copy(ROOT / "rust-toolchain.toml", place)
        tools = place / "tools"
        tools.mkdir()
        for tool in SHELL_TOOLS:
            (tools / tool).symlink_to(shutil.which(tool))
        yield place


def run(machine: Path, command: str, *, rights: tuple[str, ...] = (), **settings: str):
    environment = {"PATH": str(machine / "tools"), "HOME": str(machine / "home"), **settings}
    return subprocess.run(
        [*rights, "bash", "-c", command],
        cwd=machine,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def sentence(result) -> str:
    """The one line the user sees; anything more, or success, fails the test."""
    assert result.returncode != 0
    assert result.stdout == ""
    (line,) = [line for line in result.stderr.splitlines() if "Cannot go on" in line]
    assert line == result.stderr.splitlines()[-1]
    return line.removeprefix("[vitrine] Cannot go on: ")


def installed(machine: Path, name: str, output: str) -> None:
    """Puts a program on the path that prints `output`."""
    program = machine / "tools" / name
    program.write_text(f"#!/bin/sh\necho '{output}'\n")
    program.chmod(0o755)


@needs_root
def test_neither_root_nor_sudo(machine):
    said = sentence(run(machine, "vm/privilege.sh", rights=AS_NOBODY))
    assert said.startswith("networks of real hosts need root, and there is no sudo here")


@needs_root
def test_sudo_that_wants_a_password_without_a_terminal(machine):
    (machine / "tools" / "sudo").write_text("#!/bin/sh\nexit 1\n")
    (machine / "tools" / "sudo").chmod(0o755)
    said = sentence(run(machine, "vm/privilege.sh", rights=AS_NOBODY))
    assert said.startswith("sudo wants a password and there is no terminal")


@needs_root
def test_no_network_namespaces(machine):
    said = sentence(run(machine, "vm/privilege.sh", rights=WITHOUT_NAMESPACES))
    assert said.startswith("this machine forbids network namespaces (Operation not permitted): use")


def test_an_unknown_distribution_is_named_with_the_packages_to_install(machine):
    release = machine / "os-release"
    release.write_text('ID=fedora\nVERSION_ID="41"\n')
    said = sentence(run(machine, "vm/packages.sh", VITRINE_OS_RELEASE=str(release)))
    assert said.startswith("this is 'fedora 41', and packages are installed on Debian 12 and")
    assert "iperf3" in said
    assert "mininet" in said


def test_a_distribution_without_a_name_is_unknown(machine):
    said = sentence(run(machine, "vm/packages.sh", VITRINE_OS_RELEASE="/nonexistent"))
    assert said.startswith("this is 'unknown', and packages")


@pytest.mark.parametrize(
    ("kernel", "debian"), [("x86_64", "amd64"), ("aarch64", "arm64"), ("riscv64", "riscv64")]
)
def test_without_dpkg_the_kernel_tells_the_processor(machine, kernel, debian):
    (machine / "tools" / "uname").unlink()
    installed(machine, "uname", kernel)
    assert run(machine, ". vm/distribution.sh; echo $architecture").stdout == f"{debian}\n"


def test_packages_that_cannot_be_fetched(machine):
    release = machine / "os-release"
    release.write_text("ID=debian\nVERSION_ID=12\n")
    (machine / "tools" / "sudo").symlink_to("env")
    apt = machine / "tools" / "apt-get"
    apt.write_text("#!/bin/sh\necho 'E: Temporary failure resolving'\nexit 100\n")
    apt.chmod(0o755)
    result = run(machine, "vm/packages.sh", VITRINE_OS_RELEASE=str(release))
    assert "check the network and the package sources" in sentence(result)
    # apt-get's output is shown above the sentence.
    assert "E: Temporary failure resolving" in result.stderr


def test_no_rust_and_nobody_to_ask(machine):
    said = sentence(run(machine, ". vm/rust.sh"))
    assert (
        "or newer is needed and is not installed: run the command again with RUST_INSTALL" in said
    )
    assert not (machine / "home").exists()


def test_a_rust_that_is_too_old_is_named(machine):
    installed(machine, "cargo", "cargo 1.70.0")
    installed(machine, "rustc", "rustc 1.70.0 (90c541806 2023-05-31)")
    assert "only 1.70.0 is installed" in sentence(run(machine, ". vm/rust.sh"))


def test_a_newer_rust_of_the_distribution_will_do(machine):
    installed(machine, "cargo", "cargo 1.100.0")
    installed(machine, "rustc", "rustc 1.100.0 (abc 2027-01-01)")
    result = run(machine, ". vm/rust.sh && echo ready")
    assert (result.stdout, result.stderr) == ("ready\n", "")


def test_an_installer_that_cannot_be_reached(machine):
    (machine / "tools" / "curl").symlink_to(shutil.which("curl"))
    # Port 9 of this machine: nothing answers there.
    url = "https://127.0.0.1:9/rustup"
    result = run(machine, ". vm/rust.sh", RUST_INSTALL="yes", VITRINE_RUSTUP_URL=url)
    said = sentence(result)
    assert said.startswith(f"rustup's installer at {url} cannot be reached or did not run")
    assert not (machine / "build" / "rustup-init").exists()


# Stands in for curl: writes a program that leaves a trace when it runs.
FALSE_INSTALLER = """#!/bin/sh
while [ "$1" != --output ]; do shift; done
printf '#!/bin/sh\\ntouch was-run\\n' >"$2"
"""


def test_an_installer_with_another_sum_than_the_pinned_one_is_not_run(machine):
    (machine / "tools" / "curl").write_text(FALSE_INSTALLER)
    (machine / "tools" / "curl").chmod(0o755)
    result = run(machine, ". vm/rust.sh", RUST_INSTALL="yes", VITRINE_ARCHITECTURE="amd64")
    assert "cannot be reached or did not run" in sentence(result)
    assert "build/rustup-init: FAILED" in result.stderr
    assert (machine / "build" / "rustup-init").exists()
    assert not (machine / "was-run").exists()


def test_rust_for_a_processor_without_a_pinned_sum_is_not_fetched(machine):
    result = run(machine, ". vm/rust.sh", RUST_INSTALL="yes", VITRINE_ARCHITECTURE="riscv64")
    assert "cannot be reached or did not run" in sentence(result)
    assert "there is no rustup for riscv64 here" in result.stderr


def test_an_older_rust_first_on_the_path_does_not_hide_a_newer_one(machine):
    installed(machine, "cargo", "cargo 1.75.0")
    installed(machine, "rustc", "rustc 1.75.0 (82e1608df 2023-12-21)")
    newer = machine / "home" / ".cargo" / "bin"
    newer.mkdir(parents=True)
    for name in ("cargo", "rustc"):
        (newer / name).write_text(f"#!/bin/sh\necho '{name} 1.99.0'\n")
        (newer / name).chmod(0o755)
    result = run(machine, ". vm/rust.sh && rustc --version")
    assert (result.stdout, result.stderr) == ("rustc 1.99.0\n", "")


def test_a_python_environment_that_could_not_be_made_is_not_taken_for_ready(machine):
    shutil.copy(ROOT / "pyproject.toml", machine)
    (machine / "vm" / "requirements.txt").write_text("no-such-package-of-the-kit @ file:///none\n")
    said = sentence(run(machine, "vm/python.sh"))
    assert said.startswith("the Python packages could not be installed")
    assert not (machine / "build" / "venv" / "made-from").exists()


# ---- a lab machine: the P4 project's tools, and programs that were built elsewhere ---------------


def os_release(machine: Path, text: str) -> str:
    file = machine / "os-release"
    file.write_text(text)
    return str(file)


def test_no_packages_of_the_p4_project_for_a_distribution_is_a_note_and_no_failure(machine):
    release = os_release(machine, "ID=fedora\nVERSION_ID=41\n")
    result = run(machine, "vm/p4lang.sh", VITRINE_OS_RELEASE=release)
    assert result.returncode == 0
    assert "there are no packages for 'fedora 41'" in result.stderr
    assert "The kit's own compiler and switch are complete without them" in result.stderr


def test_a_repository_that_cannot_be_reached_is_a_note_and_no_failure(machine):
    (machine / "tools" / "curl").write_text("#!/bin/sh\necho cannot resolve >&2\nexit 6\n")
    (machine / "tools" / "curl").chmod(0o755)
    release = os_release(machine, "ID=ubuntu\nVERSION_ID=24.04\n")
    result = run(
        machine,
        "vm/p4lang.sh",
        VITRINE_OS_RELEASE=release,
        P4LANG_REPOSITORY="https://nowhere.invalid/p4lang",
    )
    assert result.returncode == 0
    assert "https://nowhere.invalid/p4lang/xUbuntu_24.04 cannot be reached" in result.stderr


def test_the_p4_project_s_tools_that_are_there_are_left_alone(machine):
    for tool in ("p4c", "simple_switch_grpc"):
        installed(machine, tool, "1.2.5")
    result = run(machine, "vm/p4lang.sh", VITRINE_OS_RELEASE=os_release(machine, "ID=fedora\n"))
    assert (result.returncode, result.stderr) == (0, "")


def carried(machine: Path, module: str = "") -> str:
    """A folder with programs, and a page's module, that were built from a small switch/."""
    (machine / "switch" / "target" / "release").mkdir(parents=True)
    (machine / "switch" / "main.rs").write_text("fn main() {}")
    built = machine / "built"
    built.mkdir()
    shutil.copy(shutil.which("true"), built / "vitrine")
    done = run(machine, f"vm/carry.sh built carried {module}")
    assert (done.returncode, done.stderr) == (0, "")
    return str(machine / "carried")


@pytest.mark.parametrize(
    ("file", "text", "status"),
    [
        ("main.rs", "fn main() {}", 0),
        ("target/release/vitrine", "what a build left", 0),
        ("main.rs", "fn main() { panic!() }", 1),
        ("new.rs", "fn main() {}", 1),
    ],
    ids=["the same sources", "a build beside them", "a change", "a file more"],
)
def test_programs_built_elsewhere_serve_while_the_sources_are_theirs(machine, file, text, status):
    folder = carried(machine)
    (machine / "switch" / file).write_text(text)
    assert run(machine, "vm/prebuilt.sh", VITRINE_PREBUILT=folder).returncode == status


def test_programs_that_are_not_built_are_not_carried(machine):
    (machine / "switch").mkdir()
    said = sentence(run(machine, "vm/carry.sh build/bin carried"))
    assert said == "build/bin/vitrine is missing: run make build first."
    assert not (machine / "carried").exists()


def test_without_programs_from_elsewhere_the_switch_is_built(machine):
    nowhere = str(machine / "nowhere")
    assert run(machine, "vm/prebuilt.sh", VITRINE_PREBUILT=nowhere).returncode == 1


def page_made(machine: Path, **settings: str):
    """The effect of `make page` where Python reports its arguments."""
    python = machine / "build" / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/usr/bin/env bash\necho "$*"\n')
    python.chmod(0o755)
    return run(machine, "vm/page.sh", **settings)


def test_a_page_is_made_without_rust_where_its_module_came_along(machine):
    (machine / "page.wasm").write_bytes(b"the module")
    folder = carried(machine, "page.wasm")
    made = page_made(machine, VITRINE_PREBUILT=folder)
    assert made.returncode == 0
    assert f"The page's module is the one in {folder}" in made.stderr
    made_of = "labs.glass.alone build/page/page.wasm build/page/scenarios.json out/vitrine.html"
    assert made_of in made.stdout
    assert (machine / "build/page/page.wasm").read_bytes() == b"the module"


@pytest.mark.parametrize("changed", [True, False], ids=["of other sources", "that is missing"])
def test_without_rust_a_module_does_not_serve(machine, changed):
    (machine / "page.wasm").write_bytes(b"the module")
    folder = carried(machine, "page.wasm" if changed else "")
    if changed:
        (machine / "switch" / "main.rs").write_text("fn main() { panic!() }")
    made = page_made(machine, VITRINE_PREBUILT=folder)
    assert made.returncode == 1
    assert made.stdout == ""
    assert "out/vitrine.html was not made: install Rust" in made.stderr.splitlines()[-1]


# ---- the virtual world -------------------------------------------------------------------------

CHOOSE = ". vm/say.sh; . vm/worlds.sh; choose_world; say_world; echo $WORLD"


@needs_root
@pytest.mark.parametrize(
    ("rights", "why"),
    [
        (AS_NOBODY, "networks of real hosts need root, and there is no sudo here"),
        (WITHOUT_NAMESPACES, "this machine forbids network namespaces (Operation not permitted)"),
    ],
)
def test_where_there_can_be_no_live_network_the_virtual_world_is_taken_and_why(
    machine, rights, why
):
    done = run(machine, CHOOSE, rights=rights)
    assert (done.returncode, done.stdout) == (0, "virtual\n")
    assert done.stderr == f"[vitrine] This runs in the virtual world: {why}.\n"


def test_a_world_that_was_chosen_is_not_questioned(machine):
    for world in ("live", "virtual", "both"):
        done = run(machine, CHOOSE, WORLD=world)
        assert (done.stdout, done.stderr) == (f"{world}\n", "")


def test_the_virtual_world_asks_for_none_of_the_live_ones_packages(machine):
    release = machine / "os-release"
    release.write_text('ID=fedora\nVERSION_ID="41"\n')
    said = sentence(
        run(machine, "vm/packages.sh", VITRINE_OS_RELEASE=str(release), WORLD="virtual")
    )
    assert "pkg-config" in said
    assert not any(name in said for name in ("mininet", "iperf3", "ethtool", "iproute2"))
