"""Queues as people write them: what is read, and what is refused."""

from fractions import Fraction

import pytest

from controller.queueing import (
    OFF,
    Aqm,
    BitShaper,
    BufferShare,
    Discipline,
    Group,
    Groups,
    Limit,
    PacketShaper,
    QueueOrder,
    QueueSettings,
)
from topo.document import Place
from topo.errors import ModelError
from topo.queueing import PORT_KEYS, input_stage, port_settings


@pytest.fixture
def port(tmp_path):
    def read(text):
        path = tmp_path / "port.yaml"
        path.write_text(text)
        return port_settings(Place.load(path).fields(optional=PORT_KEYS))

    return read


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("50 packets", Limit(packets=50)),
        ("64 kB", Limit(bytes=64_000)),
        ("{packets: 50, bytes: 64 KiB}", Limit(50, 65_536)),
        ("none", Limit()),
    ],
)
def test_a_limit_is_in_packets_in_bytes_or_both(port, text, limit):
    assert port(f"queue: {text}").every_queue.limit == limit


@pytest.mark.parametrize(
    ("text", "shaper"),
    [
        ("8 Mb/s", BitShaper(8_000_000)),
        ("{rate: 8 Mb/s, burst: 10 kB}", BitShaper(8_000_000, 10_000)),
        ("500 packets/s", PacketShaper(500)),
        ("{rate: 500 packets/s, burst: 3 packets}", PacketShaper(500, 3)),
        ("{rate: 500 packets/s, catches_up: yes}", PacketShaper(500, catches_up=True)),
        ("{rate: 500 packets/s, catches_up: no}", PacketShaper(500)),
        ("off", OFF),
    ],
)
def test_a_shaper_is_in_bits_or_in_packets(port, text, shaper):
    assert port(f"shaper: {text}").shaper == shaper


@pytest.mark.parametrize(
    ("text", "aqm"),
    [
        ("codel", Aqm("codel")),
        ("off", OFF),
        ("{codel: {target: 5 ms, ecn: no}}", Aqm("codel", target_ns=5_000_000, ecn=False)),
        ("{ecn_step: 20 packets}", Aqm("ecn_step", threshold=Limit(packets=20))),
        (
            "{pie: {target: 15 ms, alpha: 1/8, ecn_below: 5 %, mean_packet: 1 kB}}",
            Aqm(
                "pie",
                target_ns=15_000_000,
                alpha=Fraction(1, 8),
                ecn_below_ppm=50_000,
                mean_packet_bytes=1000,
            ),
        ),
        (
            "{red: {min: 5 kB, max: 15 kB, probability: 10 %}}",
            Aqm(
                "red",
                profiles=({"min": 5_000, "max": 15_000, "max_ppm": 100_000},),
                in_bytes=True,
            ),
        ),
    ],
)
def test_queue_management_is_a_name_or_a_name_with_parameters(port, text, aqm):
    assert port(f"aqm: {text}").every_queue.aqm == aqm


def test_groups_are_served_from_the_first_on(port):
    settings = port("scheduler: [{drr: {2: 1}}, {wfq: {0: 1, 1: 3}}]")
    assert settings.scheduler == Groups((Group({2: 1}), Group({0: 1, 1: 3}, Discipline.WFQ)))


def test_a_port_has_as_many_classes_as_are_spoken_of(port):
    assert port("queues: {3: {limit: 5 packets}}").queue_count == 4
    assert port("classes: 8\nscheduler: strict").scheduler == Groups.strict(8)
    assert port("rate: 1 Mb/s").queue_count is None


def test_the_order_of_a_queue_is_read(port):
    assert port("order: rank").every_queue.order is QueueOrder.BY_RANK
    ranked = port("queues: {1: {order: rank}, 0: {order: arrival}}").queues
    assert ranked == {
        0: QueueSettings(order=QueueOrder.ARRIVAL),
        1: QueueSettings(order=QueueOrder.BY_RANK),
    }


def test_a_share_of_the_buffer_is_read(port):
    assert port("share: {alpha: 1/2, minimum: 3 kB}").every_queue.share == BufferShare(
        Fraction(1, 2), 3000
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("queue: 0 packets", "port.yaml:1: queue is 0, and nothing would ever get through"),
        ("queue: fifty", "queue: 'fifty' is not a limit"),
        ("scheduler: strict", "strict, but among how many"),
        ("scheduler: fair", "scheduler must be one of strict"),
        ("scheduler: {drr: {0: 1}, wfq: {1: 1}}", "must name one discipline: drr, wfq, wrr"),
        ("scheduler: {wfq: {0: 1}, quantum: 1 kB}", "quantum belongs to drr only"),
        ("scheduler: {drr: {0: 0}}", "scheduler.drr.0 must be at least 1"),
        ("scheduler: {drr: {8: 1}}", "is no class: classes are 0 to 7"),
        ("scheduler: {hierarchy: {rate: 1 Mb/s}}", "must have either `children` or a `class`"),
        ("aqm: blue", "aqm must be one of off, codel, pie, red"),
        ("aqm: {codel: {}, red: {}}", "must name one kind of queue management: codel, ecn_step"),
        (
            "aqm: {codel: {traget: 5 ms}}",
            "aqm.codel has an unknown key 'traget'; there are: ecn",
        ),
        ("aqm: {codel: {target: 5}}", "aqm.codel.target: '5' is not a length of time"),
        ("aqm: {red: {min: 5 packets}}", "aqm.red lacks 'max'"),
        ("aqm: {red: {min: 5 packets, max: 9 kB}}", "must both be packets or both be bytes"),
        ("aqm: {red: {min: 1 kB, max: 2 kB, profiles: []}}", "choose one"),
        ("share: {alpha: half}", "share.alpha: 'half' is not a ratio"),
        ("classes: 9", "classes must be from 1 to 8, and is 9"),
        ("shaper: {burst: 1 kB}", "shaper lacks 'rate'"),
        (
            "shaper: {rate: 1 Mb/s, catches_up: yes}",
            "shaper.catches_up is for rates in packets/s",
        ),
        ("queues: {x: {}}", "queues.x is no class"),
        ("queues: {0: {limit: 5 packets}, 0: {limit: 6 packets}}", "queues has the key '0' twice"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(port, text, complaint):
    with pytest.raises(ModelError, match=complaint):
        port(text)


def test_an_input_stage_needs_its_rate_and_a_known_arbiter(tmp_path):
    path = tmp_path / "stage.yaml"
    for text, complaint in [
        ("queueing: voq", "lacks 'rate'"),
        ("{queueing: voq, rate: 1 Gb/s, arbiter: fate}", "arbiter must be one of islip"),
        ("{queueing: both, rate: 1 Gb/s}", "queueing must be one of none, fifo, voq"),
    ]:
        path.write_text(text)
        with pytest.raises(ModelError, match=complaint):
            input_stage(Place.load(path))
