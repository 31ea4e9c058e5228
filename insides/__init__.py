"""The insides of a router and of a host's TCP, written by you.

Derive a class from one of these, and the router or the host asks it in the place of its own part:

* `Arbiter`: which inputs send to which outputs of a crossbar.
* `Scheduler`: which class of a port sends next.
* `Aqm`: which packet of a queue is dropped or marked before the queue is full.
* `CongestionControl`: how many packets of a TCP connection may be in flight.

    vitrine-sim fabric --arbiter my_arbiter.py:MyArbiter
    vitrine-sim queue --loads 0.6,0.6 --scheduler my_scheduler.py:MyScheduler
    vitrine-sim queue --loads 1.2 --aqm my_aqm.py:MyAqm
    vitrine run bufferbloat --world virtual --congestion my_tcp.py:MyTcp

`Chance` is the router's own random numbers: the same seed and name give the same sequence there
and here.
"""

from insides.chance import Chance
from insides.contract import (
    DROP,
    MARK,
    NO_THRESHOLD,
    PASS,
    Aqm,
    Arbiter,
    CongestionControl,
    Packet,
    Path,
    Scheduler,
    Window,
)

__all__ = [
    "DROP",
    "MARK",
    "NO_THRESHOLD",
    "PASS",
    "Aqm",
    "Arbiter",
    "Chance",
    "CongestionControl",
    "Packet",
    "Path",
    "Scheduler",
    "Window",
]
