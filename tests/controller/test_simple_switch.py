"""simple_switch's queues: what goes over the wire, what settings come to, what is refused."""

import struct
from fractions import Fraction

import pytest

from controller.errors import ConnectError, RequestError
from controller.queueing import (
    Aqm,
    BitShaper,
    BufferShare,
    Discipline,
    Group,
    Groups,
    Hierarchy,
    InputQueueing,
    InputStage,
    Leaf,
    Limit,
    Node,
    PacketShaper,
    PortSettings,
    QueueOrder,
    QueueSettings,
    RouterSettings,
)
from controller.simple_switch import (
    QueueSetting,
    SimpleSwitch,
    UnsupportedError,
    converted,
    packets_per_second,
)
from tests.controller.thrift_double import ThriftDouble, number, result

FIFTY = QueueSettings(limit=Limit(packets=50))


def port(**settings):
    return RouterSettings({2: PortSettings(**settings)})


# ---- what settings come to -----------------------------------------------------------------------


def test_a_rate_in_bits_becomes_full_frames_a_second():
    # 10,000,000 / (1514 x 8) = 825.63; 1,500,000 / 12,112 = 123.84.
    assert packets_per_second(10_000_000) == 826
    assert packets_per_second(1_500_000) == 124
    # A queue without any rate would be the opposite of a very slow line.
    assert packets_per_second(1) == 1


def test_a_port_with_one_class_gets_its_depth_and_its_rate_and_the_report_says_so():
    found = converted(port(rate_bps=1_500_000, queue_count=1, every_queue=FIFTY), class_count=1)
    assert found.queues == (QueueSetting(2, 0, 50, 124),)
    (remark,) = found.remarks
    # 124 x 12,112 bits.
    assert "1,500,000 b/s became 124 packets a second, which is 1,501,888 b/s" in remark


def test_a_line_with_another_mtu_is_counted_in_its_own_frames():
    # 10,000,000 / (9014 x 8) = 138.67.
    found = converted(port(rate_bps=10_000_000, queue_count=1), 1, frame_bytes={2: 9014})
    assert found.queues == (QueueSetting(2, 0, None, 139),)
    assert "full frames of 9014 bytes" in found.remarks[0]


def test_a_rate_of_zero_is_as_fast_as_the_machine_and_needs_no_remark():
    found = converted(port(rate_bps=0, queue_count=1), class_count=1)
    assert found.queues == (QueueSetting(2, 0, None, 0),)
    assert found.remarks == ()


def test_several_classes_get_a_depth_and_a_packet_rate_each():
    urgent = QueueSettings(limit=Limit(packets=10), shaper=PacketShaper(500))
    found = converted(
        port(queue_count=2, every_queue=FIFTY, queues={1: urgent}, scheduler=Groups.strict(2)),
        class_count=8,
    )
    assert found.queues == (QueueSetting(2, 0, 50, None), QueueSetting(2, 1, 10, 500))


def test_what_is_not_given_is_left_as_it_is():
    assert converted(port(queue_count=1), class_count=1).queues == ()


# ---- what is refused -----------------------------------------------------------------------------

WEIGHTS = Groups((Group({0: 1, 1: 3}, Discipline.DRR),))
TREE = Hierarchy(Node("all", 10**6, 10**6, leaf=Leaf(0)))
REFUSED = {
    "it has no weights": port(queue_count=2, scheduler=WEIGHTS),
    "it has no hierarchy of classes": port(queue_count=1, scheduler=TREE),
    "it has no rate for a port": port(rate_bps=10**6, queue_count=2),
    "no limits in bytes": port(queue_count=1, every_queue=QueueSettings(limit=Limit(bytes=9000))),
    "no rates in bits a second": port(
        queue_count=1, every_queue=QueueSettings(shaper=BitShaper(10**6))
    ),
    "its rates know no burst": port(
        queue_count=1, every_queue=QueueSettings(shaper=PacketShaper(100, 5))
    ),
    "no queue management": port(queue_count=1, every_queue=QueueSettings(aqm=Aqm("codel"))),
    "no shares of one": port(
        queue_count=1, every_queue=QueueSettings(share=BufferShare(Fraction(1)))
    ),
    "it has no ranks": port(queue_count=1, every_queue=QueueSettings(order=QueueOrder.BY_RANK)),
    "no limit over all queues": port(limit=Limit(packets=9)),
    "no shaper for a port": port(shaper=PacketShaper(100)),
    "overhead has no effect": port(overhead_bytes=24),
    "does not measure a line's utilisation": port(utilisation_window_ns=1000),
    "has no shared buffer": RouterSettings(buffer_bytes=100_000),
    "has no input stage": RouterSettings(input=InputStage(InputQueueing.VOQ)),
}


@pytest.mark.parametrize("limit", REFUSED)
def test_what_that_switch_cannot_do_is_refused_by_name(limit):
    with pytest.raises(UnsupportedError, match=limit):
        converted(REFUSED[limit], class_count=8)


def test_everything_that_is_wrong_is_said_at_once_and_each_thing_once():
    settings = RouterSettings(
        {
            1: PortSettings(queue_count=2, every_queue=QueueSettings(aqm=Aqm("codel"))),
            2: PortSettings(queue_count=2, scheduler=WEIGHTS),
        },
        buffer_bytes=10_000,
    )
    with pytest.raises(UnsupportedError) as refused:
        converted(settings, class_count=2)
    # The buffer, port 1's two classes, and port 2's weights.
    assert len(refused.value.limits) == 4
    assert "Port 1, class 1: it has no queue management" in str(refused.value)


# ---- the wire ------------------------------------------------------------------------------------


def test_depth_and_rate_go_to_the_queue_of_port_and_class():
    names = ("set_egress_priority_queue_depth", "set_egress_priority_queue_rate")
    conversion = converted(port(rate_bps=1_500_000, queue_count=1, every_queue=FIFTY), 1)
    with ThriftDouble(dict.fromkeys(names, number(0))) as server:
        with SimpleSwitch("127.0.0.1", server.port) as switch:
            switch.configure(conversion)
        assert server.calls == [
            ("simple_switch:set_egress_priority_queue_depth", 2, 0, 50),
            ("simple_switch:set_egress_priority_queue_rate", 2, 0, 124),
        ]


def test_a_register_is_a_list_of_numbers():
    cells = result(15, struct.pack("!biqq", 10, 2, 7, 1 << 40))
    with (
        ThriftDouble({"bm_register_read_all": cells}) as server,
        SimpleSwitch("127.0.0.1", server.port) as switch,
    ):
        assert switch.register("ingress.seen") == [7, 1 << 40]
        assert server.calls == [("standard:bm_register_read_all", 0, "ingress.seen")]


def test_a_counter_is_packets_and_bytes():
    # A struct of field 1, bytes, and field 2, packets.
    value = result(12, struct.pack("!bhqbhqb", 10, 1, 9084, 10, 2, 6, 0))
    with (
        ThriftDouble({"bm_counter_read": value}) as server,
        SimpleSwitch("127.0.0.1", server.port) as switch,
    ):
        assert switch.counter("egress.class_traffic", 3) == (6, 9084)


def test_the_counter_of_an_entry_is_asked_for_by_table_and_handle():
    value = result(12, struct.pack("!bhqbhqb", 10, 1, 120, 10, 2, 2, 0))
    with (
        ThriftDouble({"bm_mt_read_counter": value}) as server,
        SimpleSwitch("127.0.0.1", server.port) as switch,
    ):
        assert switch.entry_counter("ingress.routes", 1) == (2, 120)
        assert server.calls == [("standard:bm_mt_read_counter", 0, "ingress.routes", 1)]


def test_a_status_that_is_not_zero_is_a_refusal():
    conversion = converted(port(queue_count=1, every_queue=FIFTY), 1)
    with (
        ThriftDouble({"set_egress_priority_queue_depth": number(1)}) as server,
        SimpleSwitch("127.0.0.1", server.port) as switch,
        pytest.raises(RequestError, match="set_egress_priority_queue_depth: status 1"),
    ):
        switch.configure(conversion)


def test_a_declared_exception_is_a_refusal_that_names_the_method():
    # Field 1 of the result: a struct with the code 2.
    ouch = struct.pack("!bhbhib", 12, 1, 8, 1, 2, 0)
    with (
        ThriftDouble({"bm_register_read_all": ouch}) as server,
        SimpleSwitch("127.0.0.1", server.port) as switch,
        pytest.raises(RequestError, match="refused bm_register_read_all"),
    ):
        switch.register("none")


def test_a_method_that_the_server_does_not_know_is_a_refusal_in_its_words():
    words = b"Invalid method name"
    told = struct.pack("!bhi", 11, 1, len(words)) + words
    with (
        ThriftDouble({"bm_register_read_all": told}, kind=3) as server,
        SimpleSwitch("127.0.0.1", server.port) as switch,
        pytest.raises(RequestError, match="Invalid method name"),
    ):
        switch.register("any")


def test_nobody_at_the_port_is_an_error_that_names_it():
    with ThriftDouble({}) as server:
        port_number = server.port
    with pytest.raises(ConnectError, match=f"127.0.0.1:{port_number}.*--thrift-port"):
        SimpleSwitch("127.0.0.1", port_number)
