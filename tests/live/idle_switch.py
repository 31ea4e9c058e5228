#!/usr/bin/python3
"""A switch that answers on its port and forwards nothing, for tests of the adapter alone.

Takes vitrine-switch's command line."""

import signal
import socket
import sys
from pathlib import Path

address = sys.argv[sys.argv.index("--grpc") + 1]
place, _, rest = address.partition(":")
if place == "unix":
    Path(rest).unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(rest)
    server.listen()
else:
    server = socket.create_server((place, int(rest)))
print(f"idle switch listening on {address}: {' '.join(sys.argv[1:])}", flush=True)
signal.sigwait([signal.SIGTERM])
if place == "unix":
    Path(rest).unlink()
