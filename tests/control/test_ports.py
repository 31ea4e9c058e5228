"""Ports that come and go on a real switch, with frames on cables."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from controller.entries import Call, Entry, Lpm
from controller.errors import RequestError
from controller.p4info import P4Info
from controller.ports import Ports
from controller.queueing import Limit, PortSettings, QueueSettings
from controller.queues import Queues
from controller.session import Session
from tests.bench.network import run
from tests.control.cables import Cable
from tests.control.conftest import CPU_PORT, DEVICE_ID, Compiled, running_switch
from tests.process.switch import has_landlock
from topo import wait

LPM = 0x8802


def frame(to: int) -> bytes:
    return (to.to_bytes(6, "big") + bytes(6) + LPM.to_bytes(2, "big")).ljust(60, b"\0")


@pytest.fixture
def session(tmp_path, cabled: dict[int, Cable], driven: Compiled) -> Iterator[Session]:
    """A switch whose only netdev is behind port 1; frames to host N leave by port N."""
    flags = ["-i", f"1@{cabled[1].device}", "--port-rate", "1 Gb/s", "--priority-queues", "2"]
    flags += ["--later-ports", "*"]
    with (
        running_switch(tmp_path, *flags) as switch,
        Session.connect(switch.address, device_id=DEVICE_ID, election_id=1) as made,
    ):
        made.load(P4Info.load(driven.p4info), driven.json.read_bytes())
        hosts = [
            Entry(
                "ingress.lpm_table",
                {"hdr.ethernet.dst_addr": Lpm(port, 48)},
                Call("ingress.forward", port=port),
            )
            for port in (1, 2, 3)
        ]
        made.insert(hosts)
        yield made


@pytest.fixture
def ports(session: Session) -> Ports:
    return Ports(session)


def test_a_port_that_is_added_sends_and_receives_like_the_first_ones(session, ports, cabled):
    ports.add(2, cabled[2].device)
    fast = PortSettings(rate_bps=10**10, queues={1: QueueSettings(limit=Limit(packets=7))})
    ports.add(3, cabled[3].device, fast)
    assert ports.devices() == {
        CPU_PORT: "",
        **{number: cable.device for number, cable in cabled.items()},
    }
    for source, to in ((1, 2), (2, 3), (3, 1)):
        cabled[source].send(frame(to))
        (received,) = cabled[to].receive(1)
        assert received[:6] == frame(to)[:6]
    settings = Queues(session).settings().ports
    # The command line says two queues and 1 Gb/s; what it does not say is the switch's own.
    assert (settings[2].rate_bps, settings[2].queue_count) == (10**9, 2)
    assert (settings[3].rate_bps, settings[3].queues[1].limit) == (10**10, Limit(packets=7))


def test_a_port_that_is_removed_lets_go_of_its_device_and_can_come_back(session, ports, cabled):
    ports.add(2, cabled[2].device)
    cabled[1].send(frame(2))
    assert len(cabled[2].receive(1)) == 1
    ports.remove(2)
    assert 2 not in ports.devices()
    cabled[1].send(frame(2))
    cabled[2].send(frame(1))
    # The device is free for another number, and the old number for another device.
    ports.add(3, cabled[2].device)
    ports.add(2, cabled[3].device)
    cabled[1].send(frame(3))
    assert [received[:6] for received in cabled[2].receive(1)] == [frame(3)[:6]]
    cabled[1].send(frame(2))
    assert [received[:6] for received in cabled[3].receive(1)] == [frame(2)[:6]]
    # Packets sent to the missing port are dropped; those that came by it were never inside.
    assert cabled[1].waiting() == cabled[2].waiting() == cabled[3].waiting() == []


def test_a_port_that_comes_back_knows_nothing_of_a_line_that_had_all_but_stopped(
    session, ports, cabled
):
    ports.add(2, cabled[2].device)
    # At 1 b/s a frame of 60 bytes is under way for eight minutes, out of the port as well as in.
    Queues(session).configure({2: PortSettings(rate_bps=1)})
    for source, to in ((2, 1), (1, 2)):
        cabled[source].send(frame(to))
    ports.remove(2)
    ports.add(2, cabled[2].device)
    for source, to in ((2, 1), (1, 2)):
        cabled[source].send(frame(to))
        assert [received[:6] for received in cabled[to].receive(1)] == [frame(to)[:6]]


def test_what_a_device_does_not_take_is_read_at_its_port(session, ports, cabled):
    ports.add(2, cabled[2].device)
    # 68 is the least that the kernel allows for IPv4: 60 bytes fit, 200 do not.
    run(["ip", "link", "set", cabled[2].device, "mtu", "68"])
    cabled[1].send(frame(2).ljust(200, b"\0"))
    cabled[1].send(frame(2))
    assert len(cabled[2].receive(1)[0]) == 60
    read = Queues(session).read().ports
    assert {number: port.lost_outside for number, port in read.items()} == {
        CPU_PORT: {},
        1: {},
        2: {"refused_too_long": 1},
    }


def test_a_device_that_is_removed_and_made_again_is_found_by_a_port_that_came_later(ports, cabled):
    ports.add(2, cabled[2].device)
    cabled[2].cut()
    cabled[2].lay()

    cabled[1].send(frame(2))
    while not cabled[2].receive(1, deadline_s=0.2):
        # The switch learns of the new device from the kernel, in its time.
        cabled[1].send(frame(2))


@pytest.mark.parametrize(
    ("port", "device", "words"),
    [
        (1, "2", "port 1 already; remove it first"),
        (2, "1", "is behind port 1 already"),
        (511, "2", 'port 511 means "drop"'),
        (CPU_PORT, "2", f"port {CPU_PORT} already"),
        (512, "2", "ports are 0 to 511"),
        (2, "nowhere", "there is no network device `nowhere`"),
    ],
)
def test_what_cannot_be_a_port_is_refused_with_the_reason(ports, cabled, port, device, words):
    device = cabled[int(device)].device if device.isdigit() else device
    before = ports.devices()
    with pytest.raises(RequestError, match=words):
        ports.add(port, device)
    assert ports.devices() == before


def test_only_devices_that_the_switch_was_started_with_or_for_become_ports(tmp_path, cabled):
    first, second = cabled[1].device, cabled[2].device
    flags = ["-i", f"1@{first}", "--later-ports", f"{second[:-1]}?"]
    with (
        running_switch(tmp_path, *flags) as switch,
        Session.connect(switch.address, device_id=DEVICE_ID, election_id=1) as session,
    ):
        ports = Ports(session)
        for stranger in ("lo", "eth0", "nowhere"):
            with pytest.raises(RequestError, match=f"may not use {stranger}: .*--later-ports"):
                ports.add(3, stranger)
        ports.add(2, second)
        # A device of the start may go and come.
        ports.remove(1)
        ports.add(1, first)


def test_a_switch_that_has_become_another_user_still_adds_ports(tmp_path, cabled, driven):
    flags = ["-i", f"1@{cabled[1].device}", "--later-ports", cabled[2].device, "--user", "nobody"]
    with (
        running_switch(tmp_path, *flags) as switch,
        Session.connect(switch.address, device_id=DEVICE_ID, election_id=1) as session,
    ):
        session.load(P4Info.load(driven.p4info), driven.json.read_bytes())
        match = {"hdr.ethernet.dst_addr": Lpm(2, 48)}
        session.insert([Entry("ingress.lpm_table", match, Call("ingress.forward", port=2))])
        Ports(session).add(2, cabled[2].device)
        cabled[1].send(frame(2))
        assert len(cabled[2].receive(1)) == 1


@pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock")
def test_no_capture_is_led_out_of_its_folder(tmp_path, cabled):
    """A user who may write there could have root's switch write anywhere."""
    folder, diary = tmp_path / "captures", tmp_path / "diary"
    folder.mkdir()
    diary.write_text("dear diary")
    first, second = cabled[1].device, cabled[2].device
    link = folder / f"{second}_in.pcap"
    flags = ["-i", f"1@{first}", "--later-ports", second, "--pcap", str(folder)]
    with (
        running_switch(tmp_path, *flags) as switch,
        Session.connect(switch.address, device_id=DEVICE_ID, election_id=1) as session,
    ):
        link.symlink_to(diary)
        with pytest.raises(RequestError, match=f"cannot write {link}: Permission denied"):
            Ports(session).add(2, second)
        assert diary.read_text() == "dear diary"
        link.unlink()
        Ports(session).add(2, second)
        assert link.is_file()


def test_settings_that_configure_would_refuse_add_no_port(ports, cabled):
    wrong = PortSettings(queue_count=9)
    with pytest.raises(RequestError, match="port 2, queue_count: 9 queues; a port has 1 to 8"):
        ports.add(2, cabled[2].device, wrong)
    assert 2 not in ports.devices()


def test_the_port_of_the_controller_and_ports_that_are_not_there_cannot_be_removed(ports):
    with pytest.raises(RequestError, match="the CPU port, which stays"):
        ports.remove(CPU_PORT)
    with pytest.raises(RequestError, match="the switch has no port 7"):
        ports.remove(7)


def test_a_port_that_was_added_comes_back_with_its_queues_after_a_restart(tmp_path, cabled, driven):
    flags = ["-i", f"1@{cabled[1].device}", "--later-ports", cabled[2].device]
    with running_switch(tmp_path, *flags) as first:
        session = Session.connect(first.address, device_id=DEVICE_ID, election_id=1)
        session.load(P4Info.load(driven.p4info), driven.json.read_bytes())
        queues, ports = Queues(session), Ports(session)
        ports.add(2, cabled[2].device)
        queues.configure({2: PortSettings(rate_bps=5_000_000)})
    with running_switch(tmp_path, *flags, address=first.address), session:

        def is_back() -> bool:
            with contextlib.suppress(RequestError):
                # The session may not have noticed yet that it was away.
                return session.is_ready and ports.devices().get(2) == cabled[2].device
            return False

        wait.until(is_back, "the return of port 2", deadline_s=60)
        wait.until(lambda: session.is_ready, "the session's return", deadline_s=60)
        assert queues.settings([2]).ports[2].rate_bps == 5_000_000
