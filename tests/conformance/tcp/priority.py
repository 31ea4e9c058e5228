"""Real-time priority for hosts and router: what else a machine does makes none of them late.

Programs inherit it from the process that starts them, so one call is for the whole network.
"""

from __future__ import annotations

import os

# Hosts take turns; the router goes before them, as its lines' instants are those of all hosts.
HOSTS, ROUTER = 1, 20
REAL_TIME, ORDINARY = "realtime", "ordinary"


def take() -> str:
    """Gives it to this process and all that it starts, where that is allowed; tells which it is."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(HOSTS))
    except PermissionError:
        return ORDINARY
    return REAL_TIME
