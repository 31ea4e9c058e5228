"""A queue as it is seen from outside: what is inside, what left, and what never will."""

import pytest

from topo.errors import MachineError
from topo.load import load
from topo.tap import LOST_AFTER_S, NOT_SAID, Books, Tap, identity

LENGTH = 1514


def told(*events):
    """Books after events: (time, "in" or "out", name of the frame)."""
    books = Books()
    for time_s, way, name in events:
        note = books.enter if way == "in" else books.leave
        note(time_s, name.encode(), LENGTH)
    return books


def totals(books, time_s):
    books.advance(time_s)
    state = books.state(2)
    return state.held_packets, state.departed_packets, state.dropped_packets.get(NOT_SAID, 0)


def test_a_frame_is_inside_from_its_arrival_to_its_departure():
    books = told((1.0, "in", "a"), (3.0, "out", "a"))
    assert books.known_until(9.0) == 9.0
    assert totals(books, 0.5) == (0, 0, 0)
    assert totals(books, 2.0) == (1, 0, 0)
    assert totals(books, 3.0) == (0, 1, 0)


def test_what_a_later_frame_overtakes_was_dropped_when_it_came():
    # A queue drops at its tail: b, between a and c, never left.
    books = told(
        (1.0, "in", "a"), (1.1, "in", "b"), (1.2, "in", "c"), (2.0, "out", "a"), (3.0, "out", "c")
    )
    assert totals(books, 1.15) == (1, 0, 1)
    assert totals(books, 1.2) == (2, 0, 1)
    assert totals(books, 3.0) == (0, 2, 1)


def test_nothing_is_certain_while_the_fate_of_an_earlier_frame_is_not():
    books = told((1.0, "in", "a"), (1.1, "in", "b"), (2.0, "out", "a"))
    assert books.known_until(5.0) == 1.1


def test_a_frame_that_no_later_one_tells_of_is_given_up_in_the_end():
    books = told((1.0, "in", "a"))
    assert books.known_until(1.0 + LOST_AFTER_S) == 1.0
    late_s = 1.1 + LOST_AFTER_S
    assert books.known_until(late_s) == late_s
    assert totals(books, late_s) == (0, 0, 1)


def test_two_frames_that_look_the_same_are_two_frames():
    books = told((1.0, "in", "a"), (1.1, "in", "a"), (2.0, "out", "a"))
    assert books.known_until(9.0) == 1.1
    assert totals(books, 1.0) == (1, 0, 0)


def test_what_the_switch_says_itself_was_never_held():
    books = told((1.0, "out", "an answer of the controller"))
    assert totals(books, 2.0) == (0, 1, 0)


def test_the_account_balances_at_every_instant():
    # 40 frames, every third dropped, each of the others inside for 5 s.
    books = Books()
    events = [(float(n), "in", n) for n in range(40)]
    events += [(n + 5.0, "out", n) for n in range(40) if n % 3]
    for time_s, way, n in sorted(events):
        (books.enter if way == "in" else books.leave)(time_s, bytes([n]), LENGTH)
    # The fate of the last frame, which is a third one, no later frame tells.
    for tick in range(39):
        held, departed, dropped = totals(books, float(tick))
        assert held + departed + dropped == tick + 1


# ---- frames --------------------------------------------------------------------------------------

IPV4 = bytes.fromhex("45000054abcd40004001b1230a0001010a000201") + b"payload"


def frame(packet, ether_type="0800"):
    return bytes(12) + bytes.fromhex(ether_type) + packet


def test_a_frame_is_known_again_behind_a_router():
    forwarded = bytearray(IPV4)
    # ECN, TTL and header checksum change on the way, and so do the Ethernet addresses.
    forwarded[1], forwarded[8], forwarded[10:12] = 3, 63, b"\xff\xff"
    before, after = identity(frame(IPV4)), identity(b"\xaa" * 12 + frame(forwarded)[12:])
    assert before == after
    assert str(before[1]) == "10.0.2.1"


def test_frames_with_another_payload_or_identification_are_others():
    retransmitted = bytearray(IPV4)
    retransmitted[5] += 1
    assert identity(frame(IPV4)) != identity(frame(retransmitted))
    assert identity(frame(IPV4)) != identity(frame(IPV4 + b"!"))


def test_an_ipv6_frame_is_known_by_all_but_its_hop_limit_and_class():
    packet = (
        bytes.fromhex("60000000000806") + b"\x40" + bytes(16) + bytes(15) + b"\x07" + b"12345678"
    )
    later = bytearray(packet)
    later[7], later[1] = 63, 0x30
    assert identity(frame(packet, "86dd")) == identity(frame(later, "86dd"))
    assert str(identity(frame(packet, "86dd"))[1]) == "::7"


def test_what_is_not_ip_and_what_is_cut_short_is_nobodys():
    assert identity(frame(b"an ARP request", "0806")) is None
    assert identity(b"short") is None
    assert identity(frame(IPV4[:12])) is None


def test_several_classes_of_a_port_are_refused(tmp_path):
    file = tmp_path / "net.yaml"
    file.write_text(
        "hosts: {h1: {address: 10.0.1.1/24}}\n"
        "switches: {s1: {ports: {1: {address: 10.0.1.254/24, classes: 2}}}}\n"
        'links: [[h1, "s1:1"]]\n'
    )
    topology = load(file)
    tap = Tap(topology, topology.switch("s1"), {1: "s1-sw1"})
    with pytest.raises(MachineError, match=r"port 1 of s1.*classes: 1"), tap.watch(10, [1]):
        pass
