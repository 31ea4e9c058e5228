"""`vitrine metrics`: counters of the routers that are up, for Prometheus.

It neither becomes a controller nor disturbs one, and outlives networks: a router that is not there
is told as `vitrine_up 0`. `labs/metrics/grafana.json` is a dashboard for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from vitrine.v1 import router_pb2

from controller import http_server, routers
from controller.errors import ControllerError
from controller.queues import Queues
from controller.session import Session
from labs.metrics.families import families

PORT_MAX = 65535
# Prometheus waits ten seconds for all of them.
DEADLINE_S = 2.0


class Routers(Collector):
    """Reads the routers at each request for metrics."""

    def __init__(self, name: str = "") -> None:
        self._name = name
        # A scrape may begin while another still waits.
        self._turn = threading.Lock()
        self._sessions: dict[str, Session] = {}

    def describe(self) -> Iterator[Metric]:
        """Nothing in advance: what there is depends on the routers."""
        yield from ()

    def collect(self) -> Iterator[Metric]:
        """All metrics at this instant."""
        with self._turn:
            told = {name: self._ask(address) for name, address in self._addresses().items()}
        yield from families(told)

    def _addresses(self) -> Mapping[str, str]:
        if self._name:
            return {self._name: routers.address_of(self._name)}
        return routers.up().routers

    def _ask(self, address: str) -> router_pb2.DescribeResponse | None:
        """The router's description, or nothing if it does not answer."""
        try:
            session = self._sessions.get(address)
            if session is None:
                session = Session.observe(address, deadline_s=DEADLINE_S)
                self._sessions[address] = session
            return Queues(session).describe()
        except ControllerError:
            lost = self._sessions.pop(address, None)
            if lost is not None:
                lost.channel.close()
            return None


def listening(text: str) -> tuple[str, int]:
    """Host and port of `host:port`; without a host, this machine alone."""
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdecimal() or int(port) > PORT_MAX:
        raise ControllerError(f"--listen {text}: say host:port, or :port for this machine alone.")
    return host or "127.0.0.1", int(port)


def serve(name: str, where: str) -> None:
    """Until Ctrl-C; without a name, all routers of the network that is up."""
    host, port = listening(where)
    if name:
        routers.address_of(name)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Routers(name))
    try:
        server = http_server.bind(host, port, make_wsgi_app(registry))
    except OSError as error:
        raise ControllerError(
            f"cannot listen at {host}:{port}: {error.strerror}. --listen names another place."
        ) from error
    whose = name or (
        "all routers that are up" if routers.all_up() else "all routers, once some are up"
    )
    print(f"metrics of {whose}: http://{host}:{server.server_port}/metrics")
    print("Ctrl-C ends it", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
