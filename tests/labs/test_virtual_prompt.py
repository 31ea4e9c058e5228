"""`vitrine up --world virtual`: the prompt on a network in virtual time."""

import os
import re
import socket
import subprocess
import sys

import pytest

from controller.toolchain import ROOT
from tests.ports import free_port

TOPOLOGY = """
hosts:
  h1: {address: 10.0.1.1/24, address6: fd00:1::1/64}
  h2: {address: 10.0.2.1/24, address6: fd00:2::1/64}
switches:
  s1:
    grpc_port: {port}
    ports:
      1: {address: [10.0.1.254/24, "fd00:1::fe/64"], rate: 1 Gb/s}
      2: {address: 10.0.12.1/24, rate: 10 Mb/s, queue: 50 packets}
  s2:
    grpc_port: {next}
    ports:
      1: {address: 10.0.12.2/24}
      2: {address: [10.0.2.254/24, "fd00:2::fe/64"]}
links:
  - [h1, "s1:1"]
  - {ends: ["s1:2", "s2:1"], delay: 5 ms, mtu: {mtu} B}
  - [h2, "s2:2"]
"""


COMMAND = (sys.executable, "-m", "vitrine", "up", "--world=virtual")


@pytest.fixture
def prompt(tmp_path):
    text = TOPOLOGY.replace("{port}", str(free_port())).replace("{next}", str(free_port()))

    def said(*commands, mtu=1500, topology=tmp_path / "net.yaml", options=()):
        (tmp_path / "net.yaml").write_text(text.replace("{mtu}", str(mtu)))
        done = subprocess.run(
            [*COMMAND, str(topology), *options],
            input="\n".join([*commands, ""]),
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={
                **os.environ,
                "VITRINE_RUN_DIR": str(tmp_path / "run"),
            },
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return said


def test_a_port_that_somebody_has_is_a_sentence_about_who(tmp_path):
    text = TOPOLOGY.replace("{next}", str(free_port())).replace("{mtu}", "1500")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        (tmp_path / "net.yaml").write_text(text.replace("{port}", str(port)))
        done = subprocess.run(
            [*COMMAND, str(tmp_path / "net.yaml")],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=60,
        )
    assert done.returncode == 1
    assert f"port {port}, on which s1 is to answer, is in use" in done.stderr
    assert "--grpc" not in done.stderr


def test_hosts_answer_each_other_and_the_routers_are_told(prompt):
    said = prompt("speed max", "pingall", "nodes", "links", "exit")
    assert re.search(r"^s2: P4Runtime and vitrine.v1 on 127.0.0.1:\d+/2$", said, re.M)
    assert "h1 -> h2" in said and "2 of 2 were answered" in said
    assert "h2  10.0.2.1/24" in said
    assert "s1 port 2 <-> s2 port 1  10 Mb/s" in said


def test_ping_takes_the_time_of_the_path(prompt):
    said = prompt("speed max", "h1 ping -c 3 -i 0.2 h2")
    times = [float(text) for text in re.findall(r"time=([\d.]+) ms", said)]
    # 5 ms each way, and at 10 Mb/s 78 us for a ping of 98 bytes.
    assert len(times) == 3
    assert all(10 < time_ms < 11 for time_ms in times)
    assert "3 packets transmitted, 3 received, 0% packet loss" in said


def test_a_transfer_fills_the_line_and_ss_sees_it(prompt):
    said = prompt("speed max", "h1 iperf3 -c h2 -t 5 -C reno", "h1 iperf3 -c h2 -t 1 -R", "jobs")
    rates = [float(text) for text in re.findall(r"([\d.]+) Mb/s +\d+  in all", said)]
    # 1448 of 1514 bytes of a frame are payload.
    assert len(rates) == 2
    assert 8.5 < rates[0] <= 9.57


def test_programs_of_hosts_take_addresses_of_ipv6(prompt):
    said = prompt(
        "speed max",
        "h1 ping -c 2 -i 0.2 fd00:2::1",
        "h1 iperf3 -c fd00:2::1 -t 2",
        "h1 iperf3 -c fd00:2::1 -t 2 -R",
        "h1 iperf3 -u -c fd00:2::1 -t 1",
        "speed 1",
        "h1 iperf3 -c fd00:2::1 -t 60 -R &",
        "h1 ping -c 2 h2",
        "h1 ss -ti",
    )
    assert "64 bytes from fd00:2::1: icmp_seq=2" in said
    assert "2 packets transmitted, 2 received, 0% packet loss" in said
    rates = [float(text) for text in re.findall(r"([\d.]+) Mb/s +\d+  in all", said)]
    # 20 bytes more of header than with IPv4: 1428 of 1514 bytes are payload.
    assert len(rates) == 2
    assert all(7 < rate_mbps <= 9.44 for rate_mbps in rates)
    assert re.search(r"(\d+) datagrams sent, \1 have arrived", said)
    assert re.search(r"ESTAB +\[?fd00:1::1\]?:\d+ +\[?fd00:2::1\]?:\d+", said)


@pytest.mark.parametrize("target", ["10.0.2.1", "fd00:2::1"])
def test_routers_tell_hosts_how_long_packets_may_be(prompt, target):
    said = prompt(f"h1 iperf3 -c {target} -t 60 &", "h1 ping -c 3 h2", "h1 ss -ti", mtu=1280)
    (told,) = re.findall(r"pmtu:(\d+) .*bytes_acked:(\d+)", said)
    assert int(told[0]) == 1280
    # More than fits into packets sent before the host knew the MTU.
    assert int(told[1]) > 500_000


def test_traceroute_tells_the_routers_on_the_way(prompt):
    said = prompt("h1 traceroute -q 2 h2", "h1 ping -c 1 -t 1 h2")
    hops = re.findall(r"^(?:\S+ s> )? ?(\d)  (\S+) ([\d.]+) ms ([\d.]+) ms$", said, re.M)
    assert [hop[:2] for hop in hops] == [
        ("1", "10.0.1.254"),
        ("2", "10.0.12.2"),
        ("3", "10.0.2.1"),
    ]
    # 5 ms each way lie between the routers.
    assert all(float(time_ms) > 10 for hop in hops[1:] for time_ms in hop[2:])
    assert "From 10.0.1.254 icmp_seq=1 Time to live exceeded" in said
    assert "1 packets transmitted, 0 received, +1 errors, 100% packet loss" in said


def test_time_stands_and_passes_as_asked(prompt):
    said = prompt("speed 0", "h1 ping -c 1 h2", "advance 5", "time", "speed backward")
    assert "time stands still: say speed 1 first." in said
    assert float(re.search(r"([\d.]+) s$", said, re.M).group(1)) >= 5
    assert "say speed 1, speed 10" in said


def test_a_cut_cable_carries_nothing_until_it_is_mended(prompt):
    said = prompt(
        "speed max", "link s1 s2 down", "links", "pingall", "link s1 s2 up", "h1 ping -c 1 h2"
    )
    assert "s1 port 2 <-> s2 port 1  cut" in said
    assert "0 of 2 were answered" in said
    assert "1 packets transmitted, 1 received" in said


def test_what_routers_report_is_shown(prompt, tmp_path):
    lab = ROOT / "labs" / "int_microburst"
    text = (lab / "topology.yaml").read_text()
    address = f"  s1:\n    grpc_port: {free_port()}\n"
    (tmp_path / "row.yaml").write_text(text.replace("  s1:\n", address))
    telemetry = ("--domain", str(lab / "domain.yaml"))
    # iperf3 ends with its last datagram; a ping takes longer than the report of it.
    traffic = ("speed max", "h1 iperf3 -u -c h2 -b 1M -l 500 -t 1", "h1 ping -c 1 h2")
    row = tmp_path / "row.yaml"
    said = prompt("reports", *traffic, "reports", topology=row, options=telemetry)
    assert "Reports come to h9" in said
    assert "0 reports of 0 nodes on 0 flows" in said
    (sent,) = re.findall(r"(\d+) datagrams sent, \1 have arrived", said)
    assert int(sent) > 100
    assert f"{sent} reports of 1 node on 1 flow; 0 missing in sequence" in said
    # The latest ten rows; three routers report each datagram, and their queues were empty.
    rows = re.findall(r"10\.0\.2\.1.*: (s\d), port \d to \d, [\d.]+ us, queue 0 with 0 B", said)
    assert len(rows) == 10
    assert set(rows) == {"s1", "s2", "s3"}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("h3 ping h1", "there is no command and no host 'h3'"),
        ("h1 nmap h2", "hosts in virtual time have no nmap"),
        ("h1 ping h9", "there is no host 'h9'"),
        ("h1 iperf3 -t 5", "iperf3: to whom? Say -c HOST."),
        ("link h1 h2 down", "no cable joins h1 and h2"),
        ("reports", "no router reports anything"),
    ],
)
def test_what_cannot_be_is_said_and_the_prompt_goes_on(prompt, command, words):
    said = prompt(command, "nodes")
    assert words in said
    assert "h1  10.0.1.1/24" in said
