"""`make shell`: p4runtime-shell, connected to a router that is up; ROUTER=s1 names it.

While the shell is open it is the primary controller; whoever was before is again when it ends. The
shell is the p4lang project's own, with its own prompt: `tables`, `table_entry["..."]`, Ctrl-D.
"""

from __future__ import annotations

import argparse
import functools
import sys
from types import SimpleNamespace

import grpc

from apps import options
from controller import device, routers
from controller.addresses import parted
from controller.connection import CHANNEL_OPTIONS
from controller.errors import ControllerError
from controller.stream import halves


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="shell", description=__doc__.splitlines()[0])
    options.add_router(parser)
    given = parser.parse_args(arguments).router
    try:
        router = routers.address_of(given)
        device_id, election_id = device.identify(router)
    except ControllerError as error:
        print(f"shell: {error}", file=sys.stderr)
        return 1
    # Imported late: it brings IPython along.
    from p4runtime_sh import shell

    reach_sockets()

    half = halves(election_id)
    place, _ = parted(router)
    where = ["--grpc-addr", place, "--device-id", str(device_id)]
    sys.argv = ["p4runtime-shell", *where, "--election-id", f"{half['high']},{half['low']}"]
    shell.main()
    return 0


def reach_sockets() -> None:
    """Lets p4runtime-shell, which opens its channel without options, into Unix sockets as well."""
    from p4runtime_sh import p4runtime

    opened = functools.partial(grpc.insecure_channel, options=CHANNEL_OPTIONS)
    p4runtime.grpc = SimpleNamespace(**{**vars(grpc), "insecure_channel": opened})


if __name__ == "__main__":
    sys.exit(main())
