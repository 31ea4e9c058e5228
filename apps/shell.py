"""`vitrine shell`: p4runtime-shell, connected to a router that is up.

While the shell is open it is the primary controller; whoever was before is again when it ends. The
shell is the p4lang project's own, with its own prompt: `tables`, `table_entry["..."]`, Ctrl-D.
"""

from __future__ import annotations

import functools
import sys
from types import SimpleNamespace

import grpc

from controller import device, routers
from controller.addresses import parted
from controller.connection import CHANNEL_OPTIONS
from controller.stream import halves


def open_at(name: str) -> None:
    """Opens the shell at a router by its name or address; returns when it is left."""
    router = routers.address_of(name)
    device_id, election_id = device.identify(router)
    # Imported late: it brings IPython along.
    from p4runtime_sh import shell

    reach_sockets()

    half = halves(election_id)
    place, _ = parted(router)
    where = ["--grpc-addr", place, "--device-id", str(device_id)]
    sys.argv = ["p4runtime-shell", *where, "--election-id", f"{half['high']},{half['low']}"]
    shell.main()


def reach_sockets() -> None:
    """Lets p4runtime-shell, which opens its channel without options, into Unix sockets as well."""
    from p4runtime_sh import p4runtime

    opened = functools.partial(grpc.insecure_channel, options=CHANNEL_OPTIONS)
    p4runtime.grpc = SimpleNamespace(**{**vars(grpc), "insecure_channel": opened})
