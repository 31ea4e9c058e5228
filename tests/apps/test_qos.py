"""The qos application: what files say, where mistakes are, what becomes of a file at a switch."""

from functools import partial
from ipaddress import ip_network
from pathlib import Path

import pytest

from apps import options, qos
from controller import device
from controller.classes import Rule
from controller.entities import CloneSession
from controller.errors import ConnectError
from controller.p4info import P4Info
from controller.queueing import (
    OFF,
    Arbiter,
    BitShaper,
    Hierarchy,
    InputQueueing,
    InputStage,
    Limit,
    PortSettings,
)
from controller.queues import Queues
from controller.session import Session
from controller.simple_switch import UnsupportedError, converted
from tests.controller import real_switch
from tests.controller.real_switch import PROGRAM, PROGRAM_INFO, RealSwitch
from topo.errors import ModelError

EXAMPLES = Path(qos.__file__).parent / "examples"

FILE = """\
buffer: 1 MB
input: {queueing: voq, rate: 8 Mb/s, limit: 40 packets}
classes: {bulk: 0, voice: 1}
rules:
  - {class: voice, dscp: 46}
  - {class: voice, src: 10.0.1.0/24, protocol: udp, dst_port: 5000, mirror: 7}
ports:
  510:
    rate: 8 Mb/s
    scheduler: {drr: {bulk: 1, voice: 3}}
    queues: {voice: {limit: 10 packets, shaper: 2 Mb/s, aqm: codel}}
    ecn_marks: {bulk: 20 packets}
mirrors: {7: {port: 510, length: 128 bytes}}
"""


@pytest.fixture
def load_text(tmp_path):
    def write_and_load(text):
        path = tmp_path / "qos.yaml"
        path.write_text(text)
        return qos.load(path)

    return write_and_load


def test_a_file_is_read_with_its_classes_by_name(load_text):
    found = load_text(FILE)
    assert found.rules == (
        Rule(1, dscp=46),
        Rule(1, src=ip_network("10.0.1.0/24"), protocol=17, dst_port=5000, mirror=7),
    )
    port = found.router.ports[510]
    assert (port.rate_bps, port.queue_count) == (8_000_000, 2)
    assert port.scheduler.groups[0].weights == {0: 1, 1: 3}
    assert port.queues[1].shaper == BitShaper(2_000_000)
    assert found.router.buffer_bytes == 1_000_000
    assert found.router.input == InputStage(
        InputQueueing.VOQ, Limit(packets=40), rate_bps=8_000_000, arbiter=Arbiter.ISLIP
    )
    assert found.marks == {(510, 0): 20}
    assert found.mirrors == (CloneSession(7, (510,), length_bytes_max=128),)


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_examples_are_read(example):
    assert qos.load(example).rules


def test_what_a_file_does_not_say_of_the_router_stays(load_text):
    router = load_text("rules: [{class: 0}]\n").router
    assert (router.buffer_bytes, router.input, router.ports) == (None, None, {})


def test_buffer_and_input_stage_are_taken_away_by_none(load_text):
    router = load_text("buffer: none\ninput: none\n").router
    assert (router.buffer_bytes, router.input) == (0, InputStage(InputQueueing.NONE))


def test_a_hierarchy_calls_its_classes_by_name():
    port = qos.load(EXAMPLES / "link_sharing.yaml").router.ports[3]
    assert isinstance(port.scheduler, Hierarchy)
    leaves = {node.name: node.leaf.class_ for node in port.scheduler.root.children}
    assert leaves == {"gold": 1, "silver": 0}


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ("voice: 1}", "voice: 8}", "qos.yaml:3: classes.voice must be from 0 to 7"),
        ("class: voice, dscp", "class: vioce, dscp", "qos.yaml:5: .*whole number, and is 'vioce'"),
        ("dscp: 46", "dscp: 64", r"qos.yaml:5: rules\[0\].dscp must be from 0 to 63"),
        ("10.0.1.0/24", "10.0.1.1/24", r"qos.yaml:6: rules\[1\].src: .* host bits set"),
        ("protocol: udp", "protocol: upd", r"qos.yaml:6: rules\[1\].protocol must be"),
        ("src: 10.0.1.0/24", "src: 10.0.1.0/24, dst: fd00::/8", "qos.yaml:6: .* mixes IPv4"),
        ("20 packets", "20", r"qos.yaml:12: ports.510.ecn_marks.0: '20' is not"),
        ("buffer: 1 MB", "buffer: 1", "qos.yaml:1: buffer: '1' is not a size"),
        ("queueing: voq", "queueing: voqs", "qos.yaml:2: input.queueing must be one of"),
        (
            "    rate: 8 Mb/s",
            "    speed: 8 Mb/s",
            "qos.yaml:9: ports.510 has an unknown key 'speed'",
        ),
    ],
)
def test_a_mistake_is_refused_with_its_line(load_text, right, wrong, complaint):
    assert right in FILE
    with pytest.raises(ModelError, match=complaint):
        load_text(FILE.replace(right, wrong, 1))


VOICE = "classes: {bulk: 0, voice: 1}\nrules: [{class: voice, dscp: 46}]\n"
PORTS = {1: PortSettings(queue_count=1), 2: PortSettings(queue_count=2)}
# The port of packets for the controller.
CPU = {510: PortSettings(queue_count=1)}


def test_who_sorts_packets_into_a_class_that_a_port_lacks_is_warned(load_text):
    (said,) = qos.dropping(load_text(VOICE), PORTS | CPU)
    assert said.startswith("no class 1 (voice) at port 1: ")
    assert "BAD_CLASS" in said
    assert qos.dropping(load_text(VOICE), {2: PORTS[2]} | CPU) == []


def test_of_rules_that_say_where_packets_go_only_those_are_warned_of_that_no_port_serves(load_text):
    to_home = VOICE.replace("dscp: 46", "dst: 10.0.2.0/24")
    assert qos.dropping(load_text(to_home), PORTS | CPU) == []
    (said,) = qos.dropping(load_text(to_home), {1: PORTS[1], 3: PORTS[1]} | CPU)
    assert said.startswith("no class 1 (voice) at ports 1, 3: ")


def test_a_mirror_may_call_its_class_by_name_and_is_warned_of_where_its_port_lacks_it(load_text):
    mirrored = load_text("classes: {voice: 1}\nmirrors: {7: {port: 1, class: voice}}\n")
    assert mirrored.mirrors == (CloneSession(7, (1,), class_=1),)
    (said,) = qos.dropping(mirrored, PORTS)
    assert said.startswith("no class 1 (voice) at port 1: every copy of mirror 7")
    assert qos.dropping(mirrored, {1: PORTS[2]}) == []


@pytest.fixture
def switch(tmp_path):
    switch = RealSwitch(tmp_path, device_id=3)
    yield switch
    switch.end()


@real_switch.needed
def test_the_id_of_a_device_is_found_by_asking(switch):
    assert device.identify(switch.address)[0] == 3


@real_switch.needed
def test_a_file_comes_into_force_and_replaces_the_one_before(switch, tmp_path, capsys):
    with Session.connect(switch.address, device_id=3) as session:
        session.load(P4Info.load(PROGRAM_INFO), PROGRAM.read_bytes())
        path = tmp_path / "qos.yaml"
        path.write_text(FILE)
        assert qos.main([str(path), "--router", switch.address]) == 0
        assert "2 rules, 1 port, 1 mirror in force" in capsys.readouterr().out
        # A rule without addresses is in both tables.
        assert len(list(session.read("ipv4_classes"))) == 2
        assert len(list(session.read("ipv6_classes"))) == 1
        assert list(session.clone_sessions()) == [CloneSession(7, (510,), length_bytes_max=128)]
        settings = Queues(session).settings([510])
        assert (settings.buffer_bytes, settings.input.queueing) == (1_000_000, InputQueueing.VOQ)
        port = settings.ports[510]
        assert port.queues[1].aqm.kind == "codel"
        assert (port.queues[1].limit, port.queues[0].aqm) == (Limit(packets=10), OFF)
        path.write_text("buffer: none\ninput: none\nrules: [{class: 0, dscp: 0}]\n")
        assert qos.main([str(path), "--router", switch.address]) == 0
        assert len(list(session.read("ipv4_classes"))) == 1
        assert list(session.read("ecn_thresholds")) == []
        assert list(session.clone_sessions()) == []
        settings = Queues(session).settings([510])
        assert (settings.buffer_bytes, settings.input.queueing) == (0, InputQueueing.NONE)


def test_a_router_that_is_not_there_is_said_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Session, "connect", partial(Session.connect, deadline_s=0.2))
    path = tmp_path / "qos.yaml"
    path.write_text(FILE)
    assert qos.main([str(path), "--router", "127.0.0.1:9"]) == 1
    assert "qos: nothing answers at 127.0.0.1:9" in capsys.readouterr().err


def test_what_a_simple_switch_cannot_do_is_refused_before_anything_is_changed(load_text):
    def refuse(settings):
        converted(settings, class_count=8)

    # No session: the refusal comes before any request.
    with pytest.raises(UnsupportedError, match="Port 510: it has no weights"):
        qos.apply(None, load_text(FILE), refuse)


def test_thrift_is_looked_for_beside_the_router_or_where_it_is_said_to_be():
    assert options.thrift_address("127.0.0.1:9559", None) == ("127.0.0.1", 10559)
    assert options.thrift_address("127.0.0.1:9559", "127.0.0.1:9090") == ("127.0.0.1", 9090)
    with pytest.raises(ConnectError, match="'9090' is no address"):
        options.thrift_address("127.0.0.1:9559", "9090")
