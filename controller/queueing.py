"""The settings of a router's queues, as values: limits, shapers, AQM, schedulers, fabric.

    PortSettings(
        rate_bps=10_000_000,
        every_queue=QueueSettings(limit=Limit(packets=50)),
        scheduler=Groups((Group({0: 3, 1: 7}),)),
    )

One vocabulary for all: topology files and the `qos` application read it from YAML, `Queues` sends
it to the switch and reads it back. Whatever is None is left as it is. What these types cannot say
the service does not know either; their reference is the proto file of `vitrine.v1`.

A class is a queue of a port; class 0 is the lowest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Literal, TypeAlias

from google.protobuf.descriptor import Descriptor
from vitrine.v1 import router_pb2

from controller.decider import Decider
from controller.errors import NameNotFoundError

CLASS_COUNT_MAX = 8

# A frame of 1500 bytes of IP with its Ethernet header: the longest packet of the labs.
ETHERNET_FRAME_BYTES = 1514

# Takes away what a queue or a port has: its shaper, its AQM.
Off: TypeAlias = Literal["off"]
OFF: Off = "off"


@dataclass(frozen=True)
class Limit:
    """How much may wait; a packet must fit under both numbers. None: no limit of that kind."""

    packets: int | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class BitShaper:
    """A token bucket in bits a second. A burst of 0 spaces packets evenly."""

    rate_bps: int
    burst_bytes: int = 0


@dataclass(frozen=True)
class PacketShaper:
    """A token bucket in packets a second, whatever their length. A burst of 1 spaces evenly."""

    rate_pps: int
    burst_packets: int = 1
    # Turns that a packet missed because the line or another class kept it are caught up, as
    # simple_switch does.
    catches_up: bool = False


Shaper: TypeAlias = BitShaper | PacketShaper

# The kinds by their names in the proto file; a kind's fields are those of its message.
SHAPER_KINDS: Mapping[str, type[BitShaper] | type[PacketShaper]] = {
    "bits": BitShaper,
    "packets": PacketShaper,
}


# ---- active queue management ---------------------------------------------------------------------

# A parameter as it is in the proto file: a number, yes or no, a ratio, a limit, or a list of
# parameters by name.
Parameter: TypeAlias = int | Fraction | Limit | tuple[Mapping[str, "Parameter"], ...]

# The service's parameters of each kind of queue management, by the kind's name.
AQM_KINDS: Mapping[str, Descriptor] = {
    field.name: field.message_type
    for field in router_pb2.Aqm.DESCRIPTOR.oneofs_by_name["kind"].fields
}


@dataclass(frozen=True, init=False)
class Aqm:
    """A method that drops or marks before a queue is full: a kind, and its parameters.

        Aqm("codel", target_ns=5_000_000)

    Kinds and parameters have the names of the proto file, which says what they mean. A parameter
    that is not given has the value of the RFC or the paper.
    """

    kind: str
    parameters: Mapping[str, Parameter]

    def __init__(self, kind: str, **parameters: Parameter) -> None:
        if kind not in AQM_KINDS:
            raise NameNotFoundError("queue management", kind, AQM_KINDS)
        known = AQM_KINDS[kind].fields_by_name
        for name in parameters:
            if name not in known:
                raise NameNotFoundError(f"parameter of {kind}", name, known)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "parameters", parameters)


# ---- who goes first ------------------------------------------------------------------------------


class Discipline(Enum):
    """How the classes of one group take turns; the names are those of `vitrine.v1`."""

    # Deficit round robin: each round a class may send weight x quantum bytes.
    DRR = "drr"
    # Weighted fair queueing: as if all sent at once, in proportion to their weights.
    WFQ = "wfq"
    # Weighted round robin: each round a class may send `weight` packets.
    WRR = "wrr"


@dataclass(frozen=True)
class Group:
    """Classes that share what the groups before them leave."""

    # Weight by class; a larger weight gets more.
    weights: Mapping[int, int]
    discipline: Discipline = Discipline.DRR
    # Only for DRR: bytes a round for weight 1.
    quantum_bytes: int = ETHERNET_FRAME_BYTES
    # The decider in its place; only where there is no other group.
    decider: Decider | None = None


@dataclass(frozen=True)
class Groups:
    """Strict priority between groups: the first that has a packet to send is served."""

    groups: tuple[Group, ...]

    @classmethod
    def strict(cls, class_count: int) -> Groups:
        """Every class a group of its own, the highest first."""
        return cls(tuple(Group({class_: 1}) for class_ in reversed(range(class_count))))


@dataclass(frozen=True)
class Leaf:
    """The end of a hierarchy's branch: one class."""

    class_: int
    # Among leaves that may send from the same level, the higher priority goes first.
    priority: int = 0
    # Among those, bytes a round: what is borrowed is shared in this proportion.
    quantum_bytes: int = ETHERNET_FRAME_BYTES


@dataclass(frozen=True)
class Node:
    """A node of a hierarchy: a guaranteed rate, and a ceil for it with borrowed bandwidth."""

    name: str
    rate_bps: int
    ceil_bps: int
    # Either a leaf, or at least one child.
    children: tuple[Node, ...] = ()
    leaf: Leaf | None = None
    # How much it may send at once after a pause, against its rate and against its ceil.
    burst_bytes: int = ETHERNET_FRAME_BYTES
    ceil_burst_bytes: int = ETHERNET_FRAME_BYTES


@dataclass(frozen=True)
class Hierarchy:
    """A tree of classes with rate, ceil and borrowing: what Linux's HTB does."""

    root: Node


Scheduler: TypeAlias = Groups | Hierarchy


# ---- queues and ports ----------------------------------------------------------------------------


@dataclass(frozen=True)
class BufferShare:
    """A queue's claim on the router's shared buffer."""

    # How many times the free rest of the buffer the queue may hold; None: as much as there is.
    alpha: Fraction | None = None
    # The space that is reserved for the queue.
    minimum_bytes: int = 0


class QueueOrder(Enum):
    """In which order the packets of a queue leave."""

    ARRIVAL = "arrival"
    # The lowest rank first, as the program sets it.
    BY_RANK = "rank"


@dataclass(frozen=True)
class QueueSettings:
    """One queue of a port."""

    limit: Limit | None = None
    shaper: Shaper | Off | None = None
    aqm: Aqm | Decider | Off | None = None
    share: BufferShare | None = None
    order: QueueOrder | None = None


@dataclass(frozen=True)
class PortSettings:
    """One port: its line, its queues and its scheduler."""

    # The line's speed; 0: no limit, nothing ever waits.
    rate_bps: int | None = None
    # Added to the length of every frame on the line: 0 counts the frame alone, 24 is Ethernet.
    overhead_bytes: int | None = None
    # Over all queues of the port together.
    limit: Limit | None = None
    shaper: Shaper | Off | None = None
    # 1 to 8. When it changes and no scheduler is given, the port gets strict priority.
    queue_count: int | None = None
    scheduler: Scheduler | None = None
    # For every queue of the port that is not in `queues`.
    every_queue: QueueSettings | None = None
    queues: Mapping[int, QueueSettings] = field(default_factory=dict)
    # P4 programs see the line's utilisation over windows of this length.
    utilisation_window_ns: int | None = None


# ---- the router as a whole -----------------------------------------------------------------------


class InputQueueing(Enum):
    """The queues before the fabric; the names are those of `vitrine.v1`."""

    # Nothing: the fabric is as fast as all inputs together.
    NONE = "none"
    # One queue an input; only its first packet may request an output: head-of-line blocking.
    FIFO = "fifo"
    # A virtual output queue for each (output, class).
    VOQ = "voq"


class Arbiter(Enum):
    """The algorithm that matches inputs with outputs; the names are those of `vitrine.v1`."""

    ISLIP = "islip"
    LQF = "lqf"
    OCF = "ocf"
    PIM = "pim"
    RANDOM = "random"
    ROUND_ROBIN = "round robin"
    WAVEFRONT = "wavefront"


@dataclass(frozen=True)
class InputStage:
    """Queues in front of a crossbar; it replaces what was there as a whole."""

    queueing: InputQueueing
    # For each input port, over all its queues.
    limit: Limit | None = None
    # For each virtual output queue.
    voq_limit: Limit | None = None
    # The line rate that the speedup multiplies.
    rate_bps: int = 0
    # How much faster than one line the crossbar is, at least 1.
    speedup: Fraction = Fraction(1)
    arbiter: Arbiter | None = None
    # Rounds of request, grant and accept, for iSLIP, PIM and round robin.
    iterations: int = 1
    # A full output queue drops what crosses the fabric, rather than giving no grant.
    lossy: bool = False
    # The decider in the arbiter's place.
    decider: Decider | None = None


@dataclass(frozen=True)
class RouterSettings:
    """Everything of one router that is changed at one instant."""

    ports: Mapping[int, PortSettings] = field(default_factory=dict)
    # A memory that all output queues share; 0: none.
    buffer_bytes: int | None = None
    input: InputStage | None = None
    # The clone session that copies of dropped packets go to. The session must exist.
    drop_mirror: int | Off | None = None
