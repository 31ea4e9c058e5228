"""A web page that is served by one host and fetched by another, by programs of this module.

    python -m labs.worlds.live.page serve ADDRESS PORT BYTES     answers each request with BYTES
    python -m labs.worlds.live.page fetch ADDRESS PORT           fetches once and prints JSON

The fetch reads the machine's monotonic clock itself, so the start of the program is not in it.
"""

from __future__ import annotations

import http.client
import http.server
import json
import socketserver
import sys
import time
from collections.abc import Callable

from labs.measure.page import Fetch

# How long a fetch may take before it counts as failed.
FETCH_DEADLINE_S = 240.0


def parse(output: str, of_monotonic: Callable[[float], float]) -> Fetch:
    """The output of `fetch`; `of_monotonic` translates its times."""
    document = json.loads(output)
    return Fetch(
        start_s=of_monotonic(document["start_s"]),
        first_byte_s=of_monotonic(document["first_byte_s"]),
        end_s=of_monotonic(document["end_s"]),
        received_bytes=document["received_bytes"],
    )


def serve(address: str, port: int, length_bytes: int) -> None:
    """Serves one page for ever."""
    page = b"v" * length_bytes

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answers every request with the page."""
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

    _Server((address, port), Handler).serve_forever()


class _Server(http.server.ThreadingHTTPServer):
    def server_bind(self) -> None:
        """Binds without asking for the host's name: a lab's hosts have no name server to ask."""
        socketserver.TCPServer.server_bind(self)


def fetch(address: str, port: int) -> dict[str, float | int]:
    """Fetches the page once."""
    connection = http.client.HTTPConnection(address, port, timeout=FETCH_DEADLINE_S)
    start_s = time.monotonic()
    connection.request("GET", "/")
    answer = connection.getresponse()
    first_byte_s = time.monotonic()
    received_bytes = len(answer.read())
    return {
        "start_s": start_s,
        "first_byte_s": first_byte_s,
        "end_s": time.monotonic(),
        "received_bytes": received_bytes,
    }


def main(arguments: list[str]) -> None:
    """One of the two commands at the top of this file."""
    command, address, port, *rest = arguments
    if command == "serve":
        serve(address, int(port), int(rest[0]))
    else:
        json.dump(fetch(address, int(port)), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
