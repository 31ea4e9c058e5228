"""The labs of the kit: those of the course in its order, and all others that have a file.

A file with a mistake takes away its own lab only; `named` says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from controller.errors import ControllerError
from labs import names
from labs.bdp_tcp_windows.lab import BdpTcpWindows
from labs.bufferbloat.lab import Bufferbloat
from labs.committed_rates.lab import CommittedRates
from labs.congestion_controls.lab import CongestionControls
from labs.crossbar_arbiters.lab import CrossbarArbiters
from labs.declared.from_file import lab_of
from labs.definition import Lab
from labs.errors import LabError, SettingError
from labs.hol_blocking.lab import HolBlocking
from labs.int_microburst.lab import IntMicroburst
from labs.link_sharing.lab import LinkSharing
from labs.load_balancing.lab import LoadBalancing
from labs.router_buffer_size.lab import RouterBufferSize
from labs.schedulers.lab import Schedulers
from labs.shared_buffer.lab import SharedBuffer
from labs.sizing_router_buffers.lab import SizingRouterBuffers
from labs.speedup.lab import Speedup
from labs.square_root_rule.lab import SquareRootRule
from labs.where_was_it_dropped.lab import WhereWasItDropped
from topo.errors import TopologyError

_FOLDER = Path(__file__).parent

# Labs that are files by name, the others by class.
_ORDER: tuple[type[Lab] | str, ...] = (
    "bottleneck",
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
    "queue-management",
    "marking",
    HolBlocking,
    CrossbarArbiters,
    Speedup,
    LoadBalancing,
    IntMicroburst,
    WhereWasItDropped,
)


# Errors of lab files, by the lab's name.
BROKEN: dict[str, str] = {}


def _read(labs: Sequence[type[Lab] | str]) -> tuple[type[Lab], ...]:
    """The labs whose files have no mistake; the others become BROKEN."""
    found: list[type[Lab]] = []
    for lab in labs:
        if not isinstance(lab, str):
            found.append(lab)
            continue
        try:
            found.append(lab_of(_FOLDER / lab.replace("-", "_")))
        except (ControllerError, LabError, TopologyError) as error:
            BROKEN[lab] = str(error)
    return tuple(found)


def _others() -> list[str]:
    """Labs that have a file and are not of the course."""
    known = {lab if isinstance(lab, str) else lab.name for lab in _ORDER}
    return [name for name in names.files() if name not in known]


# The labs of the course also have a notebook, answers for teachers, and measurements in their
# handouts.
COURSE = _read(_ORDER)
LABS = (*COURSE, *_read(_others()))


def named(name: str) -> type[Lab]:
    """The lab of that name; a name that is nearly right is suggested."""
    if name in BROKEN:
        raise SettingError(BROKEN[name])
    for lab in LABS:
        if lab.name == name:
            return lab
    raise SettingError(names.refusal(name, [lab.name for lab in LABS]))
