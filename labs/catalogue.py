"""The labs of the kit, in the order in which a course would take them."""

from __future__ import annotations

from labs import names
from labs.bdp_tcp_windows.lab import BdpTcpWindows
from labs.bottleneck.lab import Bottleneck
from labs.bufferbloat.lab import Bufferbloat
from labs.committed_rates.lab import CommittedRates
from labs.congestion_controls.lab import CongestionControls
from labs.crossbar_arbiters.lab import CrossbarArbiters
from labs.definition import Lab
from labs.errors import SettingError
from labs.hol_blocking.lab import HolBlocking
from labs.int_microburst.lab import IntMicroburst
from labs.link_sharing.lab import LinkSharing
from labs.load_balancing.lab import LoadBalancing
from labs.marking.lab import Marking
from labs.queue_management.lab import QueueManagement
from labs.router_buffer_size.lab import RouterBufferSize
from labs.schedulers.lab import Schedulers
from labs.shared_buffer.lab import SharedBuffer
from labs.sizing_router_buffers.lab import SizingRouterBuffers
from labs.speedup.lab import Speedup
from labs.square_root_rule.lab import SquareRootRule
from labs.where_was_it_dropped.lab import WhereWasItDropped

LABS: tuple[type[Lab], ...] = (
    Bottleneck,
    Bufferbloat,
    BdpTcpWindows,
    SizingRouterBuffers,
    SquareRootRule,
    RouterBufferSize,
    CongestionControls,
    LinkSharing,
    Schedulers,
    CommittedRates,
    SharedBuffer,
    QueueManagement,
    Marking,
    HolBlocking,
    CrossbarArbiters,
    Speedup,
    LoadBalancing,
    IntMicroburst,
    WhereWasItDropped,
)


def named(name: str) -> type[Lab]:
    """The lab of that name; a name that is nearly right is suggested."""
    for lab in LABS:
        if lab.name == name:
            return lab
    raise SettingError(names.refusal(name, [lab.name for lab in LABS]))
