"""The users who may control a switch, and the rest of root's rights when it runs."""

from __future__ import annotations

import os
import pwd
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from topo import wait

from . import stranger
from .switch import PROMPT_S, SWITCH, dropin, free_port, refusal, running

# linux/capability.h
CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_NICE, CAP_DAC_OVERRIDE = 12, 13, 23, 1
PORTS = 1 << CAP_NET_ADMIN | 1 << CAP_NET_RAW

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")


def api_version(target: str) -> str:
    # At a socket gRPC would call the host by the file's name, which is none for HTTP/2.
    with grpc.insecure_channel(target, [("grpc.default_authority", "localhost")]) as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        request = p4runtime_pb2.CapabilitiesRequest()
        return stub.Capabilities(request, timeout=PROMPT_S).p4runtime_api_version


@contextmanager
def at_socket(path: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A switch that listens at a Unix socket."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [SWITCH, "--no-p4", "--grpc", f"unix:{path}"], stdout=output, stderr=output
        )
    try:
        wait.until(lambda: "listening" in log.read_text(), "the line", PROMPT_S)
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_unix_socket_is_its_owners_and_goes_with_the_switch(tmp_path: Path):
    path, log = tmp_path / "s1", tmp_path / "log"
    with at_socket(path, log) as process:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert f"listening on unix:{path}" in log.read_text()
        assert api_version(f"unix:{path}")
        process.terminate()
        assert process.wait(PROMPT_S) == 0
    assert not path.exists()


def test_killed_it_listens_at_the_same_socket_again(tmp_path: Path):
    path, log = tmp_path / "s1", tmp_path / "log"
    for _ in range(2):
        log.unlink(missing_ok=True)
        with at_socket(path, log):
            assert api_version(f"unix:{path}")
        assert path.exists(), "it was killed"


@needs_root
def test_another_user_is_told_whose_switch_it_is_though_the_file_lets_them(tmp_path: Path):
    path, log = tmp_path / "s1", tmp_path / "log"
    nobody = pwd.getpwnam("nobody").pw_uid
    with at_socket(path, log):
        for folder in [tmp_path, *tmp_path.parents]:
            if folder.owner() == "root" and folder != Path("/"):
                folder.chmod(folder.stat().st_mode | 0o011)
        path.chmod(0o666)
        told = f"this switch is root's, and you are user {nobody}: run this with sudo"
        heard = stranger.heard(path, nobody)
        assert heard == [f"PERMISSION_DENIED {told}"] * 4 + [stranger.IDLE]
        # Its client got GOAWAY, and does not come back before it has another call.
        assert log.read_text().count(f"user {nobody}, whose switch this is not") == 1
        assert api_version(f"unix:{path}"), "others are served"


def test_other_machines_are_let_in_on_purpose_only(tmp_path: Path):
    status, message = refusal("--no-p4", "--grpc", "0.0.0.0:9559")
    assert status == 1
    assert "--insecure" in message and "0.0.0.0:9559" in message
    port = free_port()
    flags = ("--no-p4", "--grpc", f"0.0.0.0:{port}", "--insecure")
    with running(*flags, port=port, log=tmp_path / "log"):
        assert api_version(f"127.0.0.1:{port}")


def test_scripts_for_the_original_get_this_machine(tmp_path: Path):
    port, log = free_port(), tmp_path / "log"
    line = ("--no-p4", "--", "--grpc-server-addr", f"0.0.0.0:{port}")
    program = tmp_path / "simple_switch_grpc"
    program.symlink_to(SWITCH.resolve())
    with running(*line, port=port, log=log, program=program):
        wait.until(lambda: "device id" in log.read_text(), "the line", PROMPT_S)
    assert f"listening on 127.0.0.1:{port}" in log.read_text()
    assert "served on this machine only" in log.read_text()


def threads(process: subprocess.Popen[bytes]) -> dict[str, dict[str, str]]:
    """The kernel's status of each thread, by its name; threads of one name are alike."""
    found = {}
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        lines = (task / "status").read_text().splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        found[f"{status['Name']}/{task.name}"] = status
    return found


def test_no_thread_can_start_a_program_or_gain_a_right(tmp_path: Path):
    port = free_port()
    with running("--no-p4", "--grpc", f"127.0.0.1:{port}", port=port, log=tmp_path / "log") as it:
        for name, status in threads(it).items():
            assert status["NoNewPrivs"] == "1", name
            assert status["Seccomp"] == "2", name
            if os.geteuid() == 0:
                assert int(status["CapBnd"], 16) == 0, name


def test_the_thread_of_packets_may_still_ask_to_be_woken_exactly(tmp_path: Path):
    port = free_port()
    with running("--no-p4", "--grpc", f"127.0.0.1:{port}", port=port, log=tmp_path / "log") as it:
        # Of an ordinary thread it is 50,000; of one with real-time priority the kernel says 0.
        assert int(Path(f"/proc/{it.pid}/timerslack_ns").read_text()) <= 1


@needs_root
@pytest.mark.parametrize("user", [None, "nobody"])
def test_each_thread_keeps_what_it_needs(tmp_path: Path, user: str | None):
    port = free_port()
    flags = ["--no-p4", "--grpc", f"127.0.0.1:{port}", *(["--user", user] if user else [])]
    with running(*flags, port=port, log=tmp_path / "log") as it:

        def excess() -> list[str]:
            """Threads that have other rights than they need; one that just began has them yet."""
            found = []
            for name, status in threads(it).items():
                kept, thread = int(status["CapPrm"], 16), name.partition("/")[0]
                if name.endswith(f"/{it.pid}"):
                    is_right = kept == PORTS | (0 if user else 1 << CAP_SYS_NICE)
                elif thread == "vitrine-open":
                    is_right = kept == PORTS | 1 << CAP_DAC_OVERRIDE
                else:
                    is_right = kept & ~(1 << CAP_DAC_OVERRIDE) == 0
                if user:
                    is_right &= status["Uid"].split()[0] == str(pwd.getpwnam(user).pw_uid)
                if not is_right:
                    found.append(name)
            return found

        wait.until(lambda: not excess(), "that every thread has what it needs", PROMPT_S)


# ---- an unread log -------------------------------------------------------------------------------


def fill(pipe: int) -> None:
    """Writes until nothing more fits."""
    os.set_blocking(pipe, False)
    try:
        while os.write(pipe, bytes(4096)):
            pass
    except BlockingIOError:
        os.set_blocking(pipe, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_it_ends_though_nobody_reads_its_log(number: signal.Signals):
    port = free_port()
    read, write = os.pipe()
    fill(write)
    process = subprocess.Popen(
        [SWITCH, "--no-p4", "--grpc", f"127.0.0.1:{port}", "--log-level", "trace"],
        stdout=write,
        stderr=write,
    )
    os.close(write)
    try:
        wait.until(lambda: _answers(port), "the switch listening", PROMPT_S)
        assert api_version(f"127.0.0.1:{port}")
        process.send_signal(number)
        assert process.wait(PROMPT_S) == 0
    finally:
        process.kill()
        process.wait()
        os.close(read)


def _answers(port: int) -> bool:
    try:
        return bool(api_version(f"127.0.0.1:{port}"))
    except grpc.RpcError:
        return False


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said(tmp_path: Path):
    port, log = free_port(), tmp_path / "log"
    (tmp_path / "s1.txt").symlink_to("/dev/full")
    flags = ("--no-p4", "--log-file", str(tmp_path / "s1"))
    with dropin(*flags, port=port, log=log, folder=tmp_path) as process:
        assert _answers(port)
        process.terminate()
        assert process.wait(PROMPT_S) == 0
    assert "the log cannot be written: No space left on device" in log.read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_disk_that_is_too_full_for_a_capture_is_said_and_the_switch_goes_on(tmp_path: Path):
    port, log = free_port(), tmp_path / "log"
    flags = ("--no-p4", "--grpc", f"127.0.0.1:{port}", "--capture", "/dev/full")
    with running(*flags, port=port, log=log) as process:
        said = "the capture /dev/full ends here: No space left on device"
        wait.until(lambda: said in log.read_text(), "a word about it", PROMPT_S)
        assert _answers(port)
        process.terminate()
        assert process.wait(PROMPT_S) == 0
