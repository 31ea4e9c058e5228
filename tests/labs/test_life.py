"""`make trace`: the marks of a flow's frames, and the description of a packet's life."""

import json
import subprocess
import sys

import pytest
from vitrine.v1 import router_pb2

from controller.toolchain import ROOT
from controller.trace import Bytes, Step
from labs.family import Families
from labs.life import FlowError, Life, Sources, frame_words, patterns

# Ethernet, IPv4 of 20 bytes, TCP from port 40000 to port 80.
FRAME = bytes.fromhex(
    "000000000001 000000000002 0800"
    "4500 0028 0000 0000 4006 0000 0a000101 0a000201"
    "9c40 0050 00000000 00000000 5010 0000 0000 0000"
)
PROGRAM = {
    "pipelines": [
        {
            "tables": [
                {
                    "name": "ingress.routes",
                    "source_info": {
                        "filename": "p4src/programs/../control/routing.p4",
                        "line": 70,
                    },
                }
            ],
            "conditionals": [
                {
                    "name": "node_2",
                    "source_info": {
                        "filename": "p4src/programs/router.p4",
                        "line": 31,
                        "source_fragment": "hdr.ipv4.isValid()",
                    },
                }
            ],
        }
    ],
    "actions": [
        {
            "name": "ingress.next_hop",
            "primitives": [
                {"op": "assign"},
                {"op": "assign", "source_info": {"filename": "a/control/routing.p4", "line": 38}},
            ],
        }
    ],
}


def test_a_flow_is_bytes_at_offsets():
    found = {each.offset: each.value for each in patterns("tcp 10.0.1.1:*->10.0.2.1:80")}
    assert all(FRAME[at : at + len(value)] == value for at, value in found.items())
    assert sorted(found) == [12, 14, 23, 30 - 4, 30, 36]
    assert patterns("*->*") == [Bytes(12, b"\x08\x00")]


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        ("10.0.1.1", "expected SOURCE->TARGET"),
        ("10.0.1->*", "'10.0.1' is not an IPv4 address"),
        ("*:http->*", "'http' is not a port"),
        ("*:70000->*", "'70000' is not a port"),
    ],
)
def test_a_flow_that_cannot_be_read_is_a_sentence(flow, said):
    with pytest.raises(FlowError, match=said):
        patterns(flow)


def test_a_frame_in_words():
    assert frame_words(FRAME) == "10.0.1.1:40000 > 10.0.2.1:80, TCP, 54 bytes"
    assert frame_words(bytes(12) + b"\x08\x06" + bytes(28)) == "frame of type 0x0806, 42 bytes"


def program(**kind):
    return router_pb2.ProgramStep(**kind)


def test_a_life_is_told_from_the_port_it_came_in_by_to_its_end():
    values = router_pb2.Values(
        name="ingress.routes",
        values=[router_pb2.Value(name="hdr.ipv4.dst_addr", value="167772673")],
    )
    steps = [
        (0, "received", router_pb2.Received(port=1, frame=FRAME)),
        (0, "program", program(parser_state="start")),
        (0, "program", program(parser_state="parse_ipv4")),
        (0, "program", program(control="ingress")),
        (0, "program", program(condition=router_pb2.Condition(name="node_2", holds=True))),
        (0, "program", program(table=router_pb2.TableLookup(key=values, entry=2))),
        (0, "program", program(action=router_pb2.Values(name="ingress.next_hop"))),
        (
            0,
            "program",
            program(field=router_pb2.FieldChange(field="ipv4.ttl", before="64", after="63")),
        ),
        (
            50_000_000_000,
            "departed",
            router_pb2.Departed(queue={"port": 2}, enqueued_ps=0, enqueue_depth_packets=42),
        ),
        (50_000_000_000, "transmitted", router_pb2.Transmitted(port=2, frame=FRAME)),
    ]
    life = Life(7, Sources.of(json.dumps(PROGRAM).encode()))
    life.steps = [Step(7, time_ps, kind, message) for time_ps, kind, message in steps]
    lines = list(life.lines())
    assert lines == [
        "packet 1  10.0.1.1:40000 > 10.0.2.1:80, TCP, 54 bytes, at port 1",
        "  parser   start, parse_ipv4",
        "  -- ingress --",
        "  if       yes: hdr.ipv4.isValid()                        programs/router.p4:31",
        "  table    ingress.routes: entry 2                        control/routing.p4:70",
        "             hdr.ipv4.dst_addr = 10.0.2.1",
        "  action   ingress.next_hop()                             control/routing.p4:38",
        "             ipv4.ttl: 64 -> 63",
        "  queue    port 2, class 0: waited 50.000 ms behind 42 packets",
        "  sent     by port 2, 50.000 ms after it came",
    ]
    assert max(map(len, lines)) <= 80


def test_a_read_of_a_queue_shows_what_was_asked_and_what_came_back():
    def values(**named):
        return [router_pb2.Value(name=name, value=str(value)) for name, value in named.items()]

    read = router_pb2.QueueRead(
        inputs=router_pb2.Values(name="queue_depth", values=values(port=2, **{"class": 0})),
        outputs=values(packets=2, bytes=2000),
    )
    life = Life(1, Sources())
    life.steps = [
        Step(1, 0, "received", router_pb2.Received(port=1, frame=FRAME)),
        Step(1, 0, "program", program(queue_read=read)),
    ]
    line = "  queues   queue_depth(port = 2, class = 0): packets = 2, bytes = 2000"
    assert list(life.lines())[-1] == line


def test_a_drop_has_its_reason():
    steps = [
        Step(1, 0, "received", router_pb2.Received(port=1, frame=FRAME)),
        Step(1, 1_000_000_000, "dropped", router_pb2.QUEUE_LIMIT),
    ]
    life = Life(1, Sources())
    life.steps = steps
    assert list(life.lines())[-1] == "  dropped  queue limit, 1.000 ms after it came"


def test_packets_are_counted_from_the_first_that_is_told_and_copies_name_it():
    numbers = {}
    first = Life(27, Sources(), numbers)
    first.steps = [Step(27, 0, "received", router_pb2.Received(port=1, frame=FRAME))]
    copy = Life(31, Sources(), numbers)
    copy.steps = [Step(31, 0, "copied", router_pb2.PacketCopied(**{"from": 27}))]
    assert next(first.lines()).startswith("packet 1  10.0.1.1:40000")
    assert next(copy.lines()) == "packet 2  a copy of packet 1"


@pytest.mark.parametrize("count", ["many", "-1", "0", "1.5"])
def test_a_count_that_is_no_number_of_packets_is_refused_in_words(count):
    done = subprocess.run(
        [sys.executable, "-m", "vitrine", "trace", f"--count={count}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    sentence = f"vitrine: --count {count}: expected a number of packets, such as 3."
    assert done.stderr.splitlines()[-1] == sentence


def steps_of_a_packet_and_its_copy():
    key = router_pb2.Values(
        name="ingress.routes",
        values=[router_pb2.Value(name="hdr.ipv4.dst_addr", value="167772673")],
    )
    hit = router_pb2.TableLookup(key=key, entry=2, matches=["167772672/24"])
    return [
        Step(27, 0, "received", router_pb2.Received(port=1, frame=FRAME)),
        Step(27, 0, "program", program(table=hit)),
        Step(31, 5, "copied", router_pb2.PacketCopied(**{"from": 27})),
        Step(27, 9, "transmitted", router_pb2.Transmitted(port=2, frame=FRAME)),
        Step(31, 12, "dropped", router_pb2.QUEUE_LIMIT),
    ]


def family_of(steps, sources):
    families = Families(sources)
    *early, last = [families.take(step) for step in steps]
    # Not before the last of them has ended.
    assert not any(early)
    return last


def test_copies_stand_in_the_tree_below_what_they_are_copies_of():
    family = family_of(steps_of_a_packet_and_its_copy(), Sources())
    assert list(family.lines()) == [
        "packet 1  10.0.1.1:40000 > 10.0.2.1:80, TCP, 54 bytes, at port 1",
        "  table    ingress.routes: entry 10.0.2.0/24",
        "             hdr.ipv4.dst_addr = 10.0.2.1",
        "  sent     by port 2, 0.000 ms after it came",
        "  └ packet 2  a copy of packet 1",
        "      dropped  queue limit, 0.000 ms after it came",
    ]


def test_a_family_as_data_has_places_bytes_and_copies():
    told = family_of(
        steps_of_a_packet_and_its_copy(), Sources.of(json.dumps(PROGRAM).encode())
    ).as_data()
    assert json.loads(json.dumps(told)) == told
    came, table, left = told["steps"]
    assert (came["kind"], came["port"], came["frame"]) == ("received", 1, FRAME.hex())
    assert table["key"]["values"] == {"hdr.ipv4.dst_addr": "167772673"}
    assert (table["entry"], table["matches"]) == (2, ["167772672/24"])
    assert table["place"] == "control/routing.p4:70"
    assert (left["kind"], left["time_ps"]) == ("transmitted", 9)
    (copy,) = told["copies"]
    assert [each["kind"] for each in copy["steps"]] == ["copied", "dropped"]
    assert (copy["steps"][0]["of"], copy["steps"][1]["reason"]) == (1, "QUEUE_LIMIT")


def test_how_often_a_packet_was_recirculated_is_told():
    life = Life(1, Sources())
    for time_ps in range(3):
        life.steps.append(Step(1, time_ps, "recirculated", True))
    assert [" ".join(line.split()) for line in life.lines()] == [
        "recirculated it goes through ingress again",
        "recirculated it goes through ingress again, recirculated 2 times",
        "recirculated it goes through ingress again, recirculated 3 times",
    ]
