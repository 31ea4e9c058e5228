"""An HTTP server for metrics, with bounded connections.

Anyone who reaches the port can open connections and send nothing, or read nothing. A connection too
many therefore closes the oldest one, so that the next scrape is served.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any, TypeAlias
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

# A thread each.
CONNECTIONS_MAX = 32
# A client that neither sends nor reads for this long is gone.
_SILENT_S = 30
# Without a free descriptor no connection can be accepted until another one ends.
_RETRY_S = 1.0
_NO_THREAD = (
    b"HTTP/1.0 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
    b"this machine starts no more threads; try again later\n"
)

App: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def bind(host: str, port: int, app: App) -> BoundedServer:
    """A server of `app` that listens, on IPv4 or IPv6; `serve_forever` runs it."""
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    server_class = type("Server", (BoundedServer,), {"address_family": family})
    return make_server(host, port, app, server_class=server_class, handler_class=_Handler)


class BoundedServer(ThreadingMixIn, WSGIServer):
    """One thread for each connection, and at most CONNECTIONS_MAX of them."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        """As WSGIServer."""
        # The oldest first.
        self._open: dict[socket.socket, None] = {}
        self._changed = threading.Condition()
        super().__init__(*arguments, **keywords)

    def get_request(self) -> tuple[Any, Any]:
        """Accepts a connection; the oldest one makes room if there are no descriptors left."""
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                with self._changed:
                    self._end_oldest()
                    self._changed.wait(_RETRY_S)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Starts its thread, or refuses it where the machine starts no more threads."""
        with self._changed:
            if len(self._open) >= CONNECTIONS_MAX:
                self._end_oldest()
            self._open[request] = None
        try:
            super().process_request(request, client_address)
        except RuntimeError:
            request.setblocking(False)
            request.sendall(_NO_THREAD)
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        """It has ended."""
        with self._changed:
            self._open.pop(request, None)
        super().shutdown_request(request)
        with self._changed:
            self._changed.notify()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks off is not worth a traceback."""

    def _end_oldest(self) -> None:
        """Its thread finds the connection at its end; it closes it then."""
        oldest = next(iter(self._open), None)
        if oldest is not None:
            del self._open[oldest]
            # The client may have gone already.
            with contextlib.suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)


class _Handler(WSGIRequestHandler):
    timeout = _SILENT_S

    def log_message(self, format: str, *arguments: Any) -> None:
        """A scrape every few seconds is not worth a line on the terminal."""
