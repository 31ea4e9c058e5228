"""The image's own test: how it is booted, the console, and what must hold of a lab's result."""

import csv
import importlib.util
import json
import sys
from pathlib import Path

import pytest

VM = Path(__file__).parents[2] / "vm"


def script(name):
    """A script of vm/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, VM / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


boot_test, check_lab = script("boot_test"), script("check_lab")

# A machine that behaves as a login on a serial line does.
MACHINE = """
import sys
print("booting\\x1b[0m\\r\\nvitrine login: ", end="", flush=True)
name = sys.stdin.readline().strip()
print("Password: ", end="", flush=True)
word = sys.stdin.readline().strip()
print(f"welcome {name} {word}" if word == "lab" else "Login incorrect", flush=True)
"""


@pytest.fixture
def console(tmp_path):
    machine = boot_test.Console([sys.executable, "-c", MACHINE], tmp_path / "console.log")
    yield machine
    machine.close()


def test_the_console_types_and_listens(console, tmp_path):
    console.wait_for(r"login: $", 60)
    console.type("lab")
    console.wait_for(r"Password: ?$", 60)
    console.type("lab")
    assert console.wait_for(r"welcome (\w+)", 60)[1] == "lab"
    assert b"vitrine login" in (tmp_path / "console.log").read_bytes()


def test_a_machine_that_ends_is_told_with_its_last_words(console):
    console.wait_for(r"login: $", 60)
    console.type("lab")
    console.wait_for(r"Password: ?$", 60)
    console.type("wrong")
    with pytest.raises(boot_test.ConsoleError, match="last words were .*Login incorrect"):
        console.wait_for(r"\$ $", 60)


def test_the_image_is_booted_without_screen_and_network_and_stays_as_it_is():
    argv = boot_test.command(Path("vitrine.qcow2"), 1024, "tcg", "x86_64")
    # Behind what ends the machine when this program is killed.
    assert "qemu-system-x86_64" in argv[:4]
    assert "-snapshot" in argv
    assert argv[argv.index("-nic") + 1] == "none"
    assert argv[argv.index("-serial") + 1] == "stdio"
    with pytest.raises(boot_test.ConsoleError, match="this machine is riscv64"):
        boot_test.command(Path("vitrine.qcow2"), 1024, "tcg", "riscv64")


def test_a_machine_that_stays_silent_under_kvm_is_run_by_software(tmp_path, monkeypatch, capsys):
    scripts = {"kvm": "import sys; sys.stdin.read()", "tcg": "print('GRUB', flush=True)"}
    monkeypatch.setattr(boot_test, "accelerators", lambda machine: ["kvm", "tcg"])
    monkeypatch.setattr(boot_test, "LOG", tmp_path / "console.log")
    monkeypatch.setattr(boot_test, "SILENCE_DEADLINE_S", 0.2)
    monkeypatch.setattr(
        boot_test,
        "command",
        lambda image, memory, kind, machine: [sys.executable, "-c", scripts[kind]],
    )
    console, accelerator = boot_test.booting(tmp_path, "x86_64", 1024, boot_test.Steps())
    console.close()
    assert accelerator == "tcg"
    said = capsys.readouterr().out
    assert "with kvm the machine stays silent" in said
    assert "tcg runs the machine" in said


def test_an_image_for_another_processor_is_run_by_software_alone(monkeypatch):
    monkeypatch.setattr(boot_test.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(boot_test.os, "access", lambda path, rights: True)
    assert boot_test.accelerators("aarch64") == ["tcg"]
    assert boot_test.accelerators("x86_64") == ["kvm", "tcg"]
    argv = boot_test.command(Path("vitrine-arm64.qcow2"), 1024, "tcg", "aarch64")
    assert "qemu-system-aarch64" in argv


def test_an_image_that_is_not_there_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(boot_test, "IMAGES", tmp_path)
    monkeypatch.setenv("ARCHITECTURE", "arm64")
    assert boot_test.main() == 1
    said = capsys.readouterr().out
    assert f"there is no {tmp_path}/vitrine-arm64.qcow2: make vm builds it." in said


# A machine that logs in and conducts the lab as the image does, or fails in it.
WHOLE_MACHINE = """
import sys
def ask(text): print(text, end="", flush=True); return sys.stdin.readline()
print("GRUB")
ask("vitrine login: "); ask("Password: ")
ask("[ 12.3] a word of the kernel\\nlab@vitrine:~$ ")
print("Linux 6.1.0-56-amd64", flush=True)
ask("lab@vitrine:~/vitrine$ ")
# Not before the lab was typed: typing into a machine that has gone fails otherwise.
if "{end}" == "off": sys.exit()
print("narration\\nthe lab ended with {lab}", flush=True)
ask("lab@vitrine:~/vitrine$ ")
print("{check}", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("lab", "check", "end", "failure"),
    [
        (0, "the check ended with 0", "on", None),
        (2, "", "on", "the lab ended with status 2"),
        (0, "broken: a ping took 1 ms\\nthe check ended with 1", "on", "broken: a ping took 1 ms"),
        (0, "", "off", "before the machine ended"),
    ],
    ids=["all is well", "the lab fails", "the result cannot be", "the machine ends"],
)
def test_the_image_is_used_to_the_end_or_says_why_not(
    tmp_path, monkeypatch, capsys, lab, check, end, failure
):
    program = WHOLE_MACHINE.format(lab=lab, check=check, end=end)
    monkeypatch.setattr(boot_test, "command", lambda *arguments: [sys.executable, "-c", program])
    monkeypatch.setattr(boot_test, "accelerators", lambda machine: ["tcg"])
    monkeypatch.setattr(boot_test, "LOG", tmp_path / "vm-test.log")
    monkeypatch.setattr(boot_test, "FAILURE", tmp_path / "vm-test.failure")
    if failure is None:
        boot_test.conduct(tmp_path, "x86_64", 1024, "lab", "lab")
        assert "the invariants of the lab hold" in capsys.readouterr().out
        assert not (tmp_path / "vm-test.failure").exists()
        return
    with pytest.raises(boot_test.ConsoleError, match=failure):
        boot_test.conduct(tmp_path, "x86_64", 1024, "lab", "lab")
    kept = (tmp_path / "vm-test.failure").read_text()
    assert failure in kept.splitlines()[0]
    assert "vitrine login:" in kept


# ---- what must hold ------------------------------------------------------------------------------

RATE_BPS = 1_500_000


def write(path, header, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture
def results(tmp_path):
    """Runs as they should be: short queues, a busy line, pings and pages in time."""
    runs = []
    for name, packets, fair in (
        ("queue-100", 100, False),
        ("queue-20", 20, False),
        ("two-queues", 100, True),
    ):
        parameters = {"queue_packets": packets, "fair": fair, "rate_bps": RATE_BPS}
        runs.append({"name": name, "parameters": parameters})
        data = tmp_path / "data" / name
        # 1,875 bytes in 10 ms are 1.5 Mb/s.
        rows = [(f"{n / 100:.6f}", min(n, 20), n * 1875) for n in range(200)]
        write(data / "queues-s1-eth2.csv", ("time_s", "packets", "departed_bytes"), rows)
        write(data / "ping-ping.csv", ("time_s", "rtt_ms"), [(0.1, 20.6), (0.3, 180.0)])
        write(data / "pages.csv", ("start_s", "end_s"), [(0.5, 1.6), (4.0, 9.0)])
    (tmp_path / "results.json").write_text(json.dumps({"runs": runs}))
    (tmp_path / "report.html").write_text("x" * check_lab.REPORT_BYTES_MIN)
    return tmp_path


def test_a_result_that_can_be_is_accepted(results, capsys):
    assert check_lab.main(results) == 0
    assert "the invariants of the lab hold" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "header", "rows", "sentence"),
    [
        (
            "queues-s1-eth2.csv",
            ("time_s", "packets", "departed_bytes"),
            [(n / 100, 21, n * 1875) for n in range(200)],
            "queue-20: the queue held 21 packets, and its limit is 20",
        ),
        (
            "queues-s1-eth2.csv",
            ("time_s", "packets", "departed_bytes"),
            [(n / 100, 9, n * 2000) for n in range(200)],
            "more than the line carries",
        ),
        (
            "queues-s1-eth2.csv",
            ("time_s", "packets", "departed_bytes"),
            [(0.0, 0, 0)],
            "the router was sampled 1 times only",
        ),
        ("ping-ping.csv", ("time_s", "rtt_ms"), [(0.1, 19.9)], "a ping took 19.9 ms"),
        (
            "pages.csv",
            ("start_s", "end_s"),
            [(0.5, 1.6), (4.0, 4.9)],
            # 177,669 x 8 / 1,500,000 s.
            "a page took 0.900 s, and the line needs 0.948 s",
        ),
    ],
)
def test_what_cannot_be_is_told(results, capsys, file, header, rows, sentence):
    write(results / "data" / "queue-20" / file, header, rows)
    assert check_lab.main(results) == 1
    assert sentence in capsys.readouterr().out


def test_a_report_without_figures_is_told(results, capsys):
    (results / "report.html").write_text("")
    assert check_lab.main(results) == 1
    assert "has no figures" in capsys.readouterr().out
