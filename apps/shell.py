"""`make shell`: p4runtime-shell, connected to a router that is up; ROUTER=host:port names it.

While the shell is open it is the primary controller; whoever was before is again when it ends. The
shell is the p4lang project's own, with its own prompt: `tables`, `table_entry["..."]`, Ctrl-D.
"""

from __future__ import annotations

import argparse
import sys

from apps import options
from controller import device
from controller.connection import parted
from controller.errors import ControllerError
from controller.stream import halves


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="shell", description=__doc__.splitlines()[0])
    options.add_router(parser)
    router = parser.parse_args(arguments).router
    try:
        device_id, election_id = device.identify(router)
    except ControllerError as error:
        print(f"shell: {error}", file=sys.stderr)
        return 1
    # Imported late: it brings IPython along.
    from p4runtime_sh import shell

    half = halves(election_id)
    place, _ = parted(router)
    where = ["--grpc-addr", place, "--device-id", str(device_id)]
    sys.argv = ["p4runtime-shell", *where, "--election-id", f"{half['high']},{half['low']}"]
    shell.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
