"""Everything that can be set of a queue survives the way to the service's messages and back."""

from fractions import Fraction

import pytest
from vitrine.v1 import router_pb2

from controller.errors import NameNotFoundError
from controller.queue_messages import (
    drop_mirror,
    drop_mirror_message,
    input_message,
    input_stage,
    port_message,
    port_settings,
)
from controller.queueing import (
    AQM_KINDS,
    OFF,
    Aqm,
    Arbiter,
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
)


def there_and_back(settings):
    return port_settings(port_message(settings, classes=()))


@pytest.mark.parametrize(
    "aqm",
    [
        OFF,
        Aqm("codel", target_ns=5_000_000, interval_ns=100_000_000, mtu_bytes=1514, ecn=False),
        Aqm("ecn_step", threshold=Limit(packets=20)),
        Aqm("pie", target_ns=1, alpha=Fraction(1, 8), ecn_below_ppm=100_000, ecn=True),
        Aqm(
            "red",
            profiles=(
                {"min": 5, "max": 15, "max_ppm": 20_000},
                {"min": 2, "max": 8, "max_ppm": 100_000},
            ),
            in_bytes=True,
            weight_ppm=2_000,
            gentle=False,
        ),
    ],
    ids=str,
)
def test_every_kind_of_queue_management_comes_back(aqm):
    queue = QueueSettings(aqm=aqm)
    assert there_and_back(PortSettings(queues={0: queue})).queues[0].aqm == aqm


def _sample(field):
    """Some value for a parameter of any type."""
    if field.message_type is not None:
        return {"Limit": Limit(packets=3), "Ratio": Fraction(3, 2)}.get(
            field.message_type.name, ({"min": 1, "max": 2, "max_ppm": 3},)
        )
    return field.type == field.TYPE_BOOL or 7


@pytest.mark.parametrize("kind", AQM_KINDS)
def test_every_parameter_of_every_kind_that_the_proto_file_has_comes_back(kind):
    aqm = Aqm(kind, **{field.name: _sample(field) for field in AQM_KINDS[kind].fields})
    queue = QueueSettings(aqm=aqm)
    assert there_and_back(PortSettings(queues={0: queue})).queues[0].aqm == aqm


def test_a_misspelt_kind_or_parameter_is_refused_with_a_suggestion():
    with pytest.raises(NameNotFoundError, match="'coddle'; did you mean 'codel'"):
        Aqm("coddle")
    with pytest.raises(NameNotFoundError, match="parameter of pie is named 'target'; did"):
        Aqm("pie", target=3)


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (Arbiter, router_pb2.Arbiter),
        (Discipline, router_pb2.Discipline),
        (InputQueueing, router_pb2.InputQueueing),
    ],
)
def test_enumerations_have_the_names_of_the_proto_file(words, numbers):
    names = {name for name, _ in numbers.items() if not name.endswith("UNSPECIFIED")}
    assert set(words.__members__) == names


@pytest.mark.parametrize(
    "shaper", [OFF, BitShaper(8_000_000, 3000), PacketShaper(500, 2, catches_up=True)]
)
def test_every_shaper_comes_back_at_the_port_and_at_a_queue(shaper):
    back = there_and_back(PortSettings(shaper=shaper, queues={3: QueueSettings(shaper=shaper)}))
    assert (back.shaper, back.queues[3].shaper) == (shaper, shaper)


@pytest.mark.parametrize(
    "scheduler",
    [
        Groups.strict(3),
        Groups((Group({2: 1}), Group({0: 3, 1: 7}, Discipline.DRR, 3000))),
        Groups((Group({0: 1, 1: 2}, Discipline.WRR, 0),)),
        Groups((Group({0: 1, 1: 2}, Discipline.WFQ, 0),)),
        Hierarchy(
            Node(
                "port",
                10**9,
                10**9,
                children=(
                    Node(
                        "gold", 700, 1000, leaf=Leaf(1, 2, 3000), burst_bytes=5, ceil_burst_bytes=6
                    ),
                    Node("silver", 300, 1000, leaf=Leaf(0)),
                ),
            )
        ),
    ],
)
def test_every_scheduler_comes_back(scheduler):
    back = there_and_back(PortSettings(scheduler=scheduler)).scheduler
    if isinstance(scheduler, Groups):
        # Only DRR counts bytes a round; for the others the quantum is not sent.
        groups = [(dict(group.weights), group.discipline) for group in back.groups]
        assert groups == [(dict(group.weights), group.discipline) for group in scheduler.groups]
    else:
        assert back == scheduler


def test_what_is_none_is_not_sent():
    message = port_message(PortSettings(), classes=range(8))
    assert message.ListFields() == []


def test_what_holds_for_every_queue_yields_to_what_a_queue_says_itself():
    settings = PortSettings(
        every_queue=QueueSettings(Limit(packets=50), aqm=Aqm("codel")),
        queues={1: QueueSettings(Limit(bytes=9000))},
    )
    zero, one = port_message(settings, classes=range(2)).queues
    assert (zero.limit.packets, zero.aqm.WhichOneof("kind")) == (50, "codel")
    # The limit is its own, the queue management that of every queue.
    assert (one.limit.packets, one.limit.bytes) == (0, 9000)
    assert one.aqm.WhichOneof("kind") == "codel"


@pytest.mark.parametrize("order", QueueOrder)
def test_the_order_of_a_queue_comes_back(order):
    back = there_and_back(PortSettings(queues={0: QueueSettings(order=order)}))
    assert back.queues[0].order is order


def test_a_claim_on_the_shared_buffer_comes_back():
    share = BufferShare(Fraction(1, 2), 3000)
    back = there_and_back(PortSettings(queues={0: QueueSettings(share=share)}))
    assert back.queues[0].share == share


@pytest.mark.parametrize("arbiter", list(Arbiter))
def test_every_input_stage_comes_back(arbiter):
    limit, voq_limit = Limit(packets=100), Limit(bytes=30_000)
    stage = InputStage(
        InputQueueing.VOQ, limit, voq_limit, 10**9, Fraction(3, 2), arbiter, 4, lossy=True
    )
    assert input_stage(input_message(stage)) == stage


def test_no_input_stage_comes_back_as_none():
    assert input_stage(input_message(InputStage(InputQueueing.NONE))).queueing is InputQueueing.NONE


@pytest.mark.parametrize("clone_session", [OFF, 500])
def test_the_mirror_of_drops_comes_back(clone_session):
    assert drop_mirror(drop_mirror_message(clone_session)) == clone_session
