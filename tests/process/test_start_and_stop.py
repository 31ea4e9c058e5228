"""How the switch starts, ends, and says why it does not start. None of this needs root."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from pathlib import Path

import grpc
import pytest
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from topo import wait

from ..thrift.switch import compiled
from .switch import PROMPT_S, ROOT, SWITCH, dropin, free_port, link, refusal, running


def test_it_listens_and_says_so_in_one_line(tmp_path: Path):
    port, log = free_port(), tmp_path / "log"
    with running("--no-p4", "--grpc", f"127.0.0.1:{port}", "--device-id", "7", port=port, log=log):
        wait.until(lambda: "listening" in log.read_text(), "the line", PROMPT_S)
    said = log.read_text()
    assert f"listening on 127.0.0.1:{port} (plain text), device id 7" in said
    assert "waiting for a program" in said
    # An older kernel may lack a part of the switch's confinement; then the log says so.
    lines = [line for line in said.splitlines() if "not confined as far" not in line]
    assert len(lines) == 1, said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_status_0(tmp_path: Path, number: signal.Signals):
    port = free_port()
    flags = ("--no-p4", "--grpc", f"127.0.0.1:{port}")
    with running(*flags, port=port, log=tmp_path / "log") as process:
        asked_at = time.monotonic()
        process.send_signal(number)
        assert process.wait(PROMPT_S) == 0
        assert time.monotonic() - asked_at < PROMPT_S


def test_it_ends_although_controllers_hold_connections_open(tmp_path: Path):
    port = free_port()
    flags = ("--no-p4", "--grpc", f"127.0.0.1:{port}", "--device-id", "1")
    with (
        running(*flags, port=port, log=tmp_path / "log") as process,
        grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        hello = p4runtime_pb2.StreamMessageRequest()
        hello.arbitration.device_id = 1
        hello.arbitration.election_id.low = 1
        held = p4runtime_pb2_grpc.P4RuntimeStub(channel).StreamChannel(_one_and_then_silence(hello))
        assert next(iter(held)).arbitration.status.code == 0
        process.terminate()
        assert process.wait(PROMPT_S) == 0


def _one_and_then_silence(message):
    """Requests of a controller that says hello and holds its stream open."""
    yield message
    threading.Event().wait(PROMPT_S)


def test_killed_without_warning_it_starts_again_at_once_on_the_same_port(tmp_path: Path):
    port = free_port()
    flags = ("--no-p4", "--grpc", f"127.0.0.1:{port}")
    for attempt in range(3):
        with running(*flags, port=port, log=tmp_path / f"log{attempt}") as process:
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["-i", "1@no-such-device"], "there is no network device `no-such-device` here"),
        (["-i", "s1-eth1"], "write PORT@DEVICE, such as 1@s1-eth1"),
        (["-i", "600@lo"], "P4's ports are 0 to 511"),
        (["-i", "1@lo", "-i", "1@eth0"], "port 1 is given twice"),
        (["no-such-file.json"], "cannot read no-such-file.json"),
        (["--pcap", "/no/such/folder"], "there is no folder /no/such/folder"),
        (["--grpc", "203.0.113.1:9559", "--insecure"], "this machine has no such address"),
        (["--port-rate", "10"], "--port-rate"),
        (["--cpu-port", "511"], "both --cpu-port and --drop-port"),
        (["--user", "nobody-has-this-name"], "there is no user `nobody-has-this-name` here"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(flags: list[str], said: str):
    address = [] if "--grpc" in flags else ["--grpc", "127.0.0.1:0"]
    status, message = refusal(*flags, *address)
    assert status != 0
    assert said in message, message


def test_a_port_that_is_taken_is_named_with_what_to_do(tmp_path: Path):
    port = free_port()
    with running("--no-p4", "--grpc", f"127.0.0.1:{port}", port=port, log=tmp_path / "log"):
        status, message = refusal("--no-p4", "--grpc", f"127.0.0.1:{port}")
        assert status == 1
        assert f"cannot listen on 127.0.0.1:{port}" in message and "--grpc" in message, message
        status, message = refusal(
            *("--no-p4", "--", "--grpc-server-addr", f"127.0.0.1:{port}"), program=link(tmp_path)
        )
        assert status == 1
        assert "choose another address with -- --grpc-server-addr" in message, message


def test_a_program_that_is_no_bmv2_json_is_refused_by_name(tmp_path: Path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"__meta__": {"version": [2, 23]}, "parsers": 7}')
    status, message = refusal(str(broken), "--grpc", "127.0.0.1:0")
    assert status == 1 and "broken.json" in message and "parsers" in message, message


def test_under_the_other_name_it_takes_the_tutorials_command_line(tmp_path: Path):
    port, log = free_port(), tmp_path / "log"
    files = ("--pcap", str(tmp_path), "--nanolog", f"ipc://{tmp_path}/bm-0-log.ipc")
    flags = ("--device-id", "0", "--no-p4", "--log-console", "--thrift-port", str(free_port()))
    with dropin(*files, *flags, port=port, log=log, folder=tmp_path) as process:
        # By these the tutorials and others find and end it.
        assert "simple_switch" in Path(f"/proc/{process.pid}/comm").read_text()
        process.terminate()
        assert process.wait(PROMPT_S) == 0
    said = log.read_text()
    assert f"Server listening on 127.0.0.1:{port}" in said
    assert "[bmv2] [I] [thread" in said
    assert "has no effect" not in said


def test_under_the_other_name_it_logs_to_a_file(tmp_path: Path):
    port = free_port()
    file = tmp_path / "s1.log"
    flags = ("--no-p4", "--log-file", str(file), "--log-flush")
    with dropin(*flags, port=port, log=tmp_path / "out", folder=tmp_path):
        wait.until(
            lambda: "listening on" in (tmp_path / "s1.log.txt").read_text(), "the line", PROMPT_S
        )


def test_under_the_other_name_what_cannot_be_done_has_status_1(tmp_path: Path):
    for flags in (["--no-p4", "--use-files", "3"], ["--no-p4", "--nonsense"], []):
        status, message = refusal(*flags, program=link(tmp_path))
        assert (status, bool(message)) == (1, True), flags


def test_questions_are_answered_without_starting(tmp_path: Path):
    def answer(program: Path, flag: str) -> str:
        run = subprocess.run([program, flag], capture_output=True, text=True, timeout=PROMPT_S)
        assert run.returncode == 0, run.stderr
        return run.stdout

    assert "DATAPLANE_ATOMIC" in answer(SWITCH, "--limits")
    assert "--port-rate" in answer(SWITCH, "--help")
    assert answer(link(tmp_path), "--json-version") == "2.24\n"
    assert "--grpc-server-addr" in answer(link(tmp_path), "-h")


def test_a_program_of_the_command_line_is_none_for_controllers_of_a_drop_in(tmp_path: Path):
    # PI's server knows no P4Info of such a program, and p4-utils' networks rely on its refusal.
    json = compiled(ROOT / "tests/thrift/guest.p4", tmp_path)
    port = free_port()
    with (
        dropin("--device-id", "1", str(json), port=port, log=tmp_path / "log", folder=tmp_path),
        grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        request = p4runtime_pb2.GetForwardingPipelineConfigRequest(device_id=1)
        with pytest.raises(grpc.RpcError) as refused:
            stub.GetForwardingPipelineConfig(request, timeout=PROMPT_S)
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
