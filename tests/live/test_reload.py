"""Programs that are replaced while TCP flows: no router loses a packet, each keeps its program."""

import shutil
from pathlib import Path

import pytest

from apps import reload
from controller import compiling
from controller.queues import Queues
from tests.live.networks import programmed
from topo import wait

pytestmark = pytest.mark.live

# s1 runs a program of its user's, s2 the kit's. Neither line is ever full, so whatever is missing
# in the end was lost on the way from one program to the next.
NET = """\
hosts:
  h1: {address: 10.0.1.1/24, tcp: {congestion: cubic}}
  h2: {address: 10.0.2.1/24, tcp: {congestion: cubic}}
switches:
  s1: {program: mine.p4, ports: {1: {address: 10.0.1.254/24}, 2: {queue: 1000 packets}}}
  s2: {ports: {1: {}, 2: {address: 10.0.2.254/24, queue: 1000 packets}}}
links:
  - [h1, s1:1]
  - {ends: [s1:2, s2:1], rate: 200 Mb/s, delay: 5 ms}
  - [s2:2, h2]
"""
PACED_BPS = 50_000_000
RELOADS = 12
# Packets that pass between two reloads.
PACKETS = 1000
# The user's addition to the kit's program: a counter of all routed packets.
DECLARED = "    counter(1, CounterType.packets) all_packets;\n    apply {\n"
COUNTED = "            all_packets.count(0);\n"


def test_no_packet_is_lost_while_programs_are_replaced_under_tcp(tmp_path, capsys):
    mine = tmp_path / "mine.p4"
    shutil.copy(compiling.PROGRAMS / "router.p4", mine)
    with programmed(NET, tmp_path) as (live, sessions):
        sender, receiver = live.host("h1"), live.host("h2")
        receiver.start(["iperf3", "-s", "-1"], tmp_path / "receiver.log")
        wait.until(lambda: receiver.listens_on(5201), "iperf3 in h2", 30)
        rate = str(PACED_BPS)
        flow = sender.start(
            ["iperf3", "-c", "10.0.2.1", "-t", "600", "--fq-rate", rate], tmp_path / "flow.log"
        )

        def await_packets():
            before = _departed(sessions["s2"], 2)
            wait.until(lambda: _departed(sessions["s2"], 2) > before + PACKETS, "packets at h2", 60)

        for count in range(RELOADS):
            await_packets()
            # Another program in s1 each time, and the same again in s2.
            _write(mine, counting=count % 2 == 0)
            assert reload.reload(None, None) == 0
        await_packets()
        flow.end()
        said = capsys.readouterr().out.splitlines()
        assert said[:2] == [f"s1 runs {mine}", f"s2 runs {compiling.PROGRAMS / 'router.p4'}"]
        for session in sessions.values():
            for port in Queues(session).read().ports.values():
                assert port.dropped_packets == {}
                assert port.lost_outside == {}


def test_a_program_for_one_router_leaves_the_others_theirs(tmp_path, capsys):
    mine = tmp_path / "mine.p4"
    _write(mine, counting=True)
    with programmed(NET, tmp_path) as (_, sessions):
        assert _counts(sessions["s1"])
        assert reload.reload("s2", str(mine)) == 0
        assert capsys.readouterr().out.splitlines() == [f"s2 runs {mine}"]
        assert reload.reload("s1", "router") == 0
        assert {name: _counts(each) for name, each in sessions.items()} == {"s1": False, "s2": True}
        # From now on these are the programs that a reload looks at.
        assert reload.reload(None, None) == 0
        assert capsys.readouterr().out.splitlines()[-2:] == [
            f"s1 runs {compiling.PROGRAMS / 'router.p4'}",
            f"s2 runs {mine}",
        ]


def _departed(session, port):
    return Queues(session).read([port]).ports[port].departed_packets


def _counts(session):
    """Whether the router runs the program that counts."""
    return any(each.name == "ingress.all_packets" for each in session.program.counters)


def _write(file: Path, *, counting: bool) -> None:
    source = (compiling.PROGRAMS / "router.p4").read_text()
    if counting:
        call = "            classify.apply(hdr, meta, standard_metadata);\n"
        assert call in source
        source = source.replace("    apply {\n", DECLARED, 1).replace(call, call + COUNTED)
    file.write_text(source)
