#!/usr/bin/python3
"""A switch that answers on its port and forwards nothing, for tests of the adapter alone.

Takes vitrine-switch's command line."""

import signal
import socket
import sys

address, port = sys.argv[sys.argv.index("--grpc") + 1].split(":")
server = socket.create_server((address, int(port)))
print(f"idle switch listening on {address}:{port}: {' '.join(sys.argv[1:])}", flush=True)
signal.sigwait([signal.SIGTERM])
