"""A topology from a YAML file. Every error names the file and the place in it.

hosts:
  h1: {address: 10.0.1.1/24, gateway: 10.0.1.254, mac: "00:00:0a:00:01:01"}
switches:
  s1:
    device_id: 0
    grpc_port: 9559
    ports:
      1: {mac: "00:aa:00:00:00:01"}
      2: {mac: "00:aa:00:00:00:02", rate: 10 Mb/s, queue: 50 packets}
links:
  - [h1, "s1:1"]
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml

from controller.errors import ControllerError
from controller.values import Mac
from topo import units
from topo.errors import ModelError, TopologyError
from topo.model import End, Host, Link, Port, Switch, Topology

T = TypeVar("T")


def load(path: Path) -> Topology:
    """Reads and checks a topology file."""
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.") from error
    except yaml.YAMLError as error:
        raise ModelError(f"{path} is not YAML: {error}") from error
    try:
        return _topology(_Place(document, ""))
    except TopologyError as error:
        raise ModelError(f"{path}: {error}") from error


class _Place:
    """A value of the document with its path, so that every complaint can say where."""

    def __init__(self, value: Any, path: str) -> None:
        self.value = value
        self.path = path

    def mapping(
        self, *, required: set[str] | None = None, optional: set[str] | None = None
    ) -> dict[Any, _Place]:
        """The value as a mapping; with `required` or `optional`, of exactly those keys."""
        if not isinstance(self.value, Mapping):
            raise ModelError(f"{self._name()} must be a mapping, and is {self.value!r}.")
        if required is not None or optional is not None:
            required, optional = required or set(), optional or set()
            for key in sorted(required - self.value.keys()):
                raise ModelError(f"{self._name()} lacks {key!r}.")
            for key in sorted(map(str, self.value.keys() - required - optional)):
                known = ", ".join(sorted(required | optional))
                raise ModelError(f"{self._name()} has an unknown key {key!r}; there are: {known}.")
        return {
            key: _Place(value, f"{self.path}.{key}" if self.path else str(key))
            for key, value in self.value.items()
        }

    def items(self) -> list[_Place]:
        """The value as a list."""
        if not isinstance(self.value, list):
            raise ModelError(f"{self._name()} must be a list, and is {self.value!r}.")
        return [_Place(value, f"{self.path}[{index}]") for index, value in enumerate(self.value)]

    def parse(self, parser: Callable[[Any], T]) -> T:
        """The value read by `parser`, whose complaint gets the place in front."""
        try:
            return parser(self.value)
        except (TopologyError, ControllerError, ValueError) as error:
            raise ModelError(f"{self._name()}: {error}") from error

    def whole(self) -> int:
        """The value as a whole number."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise ModelError(f"{self._name()} must be a whole number, and is {self.value!r}.")
        return self.value

    def _name(self) -> str:
        return self.path or "the document"


def _topology(document: _Place) -> Topology:
    parts = document.mapping(required={"hosts", "switches", "links"})
    return Topology(
        hosts=tuple(_host(name, place) for name, place in parts["hosts"].mapping().items()),
        switches=tuple(_switch(name, place) for name, place in parts["switches"].mapping().items()),
        links=tuple(_link(place) for place in parts["links"].items()),
    )


def _host(name: str, place: _Place) -> Host:
    fields = place.mapping(required={"address", "gateway", "mac"})
    return Host(
        name=str(name),
        address=fields["address"].parse(ipaddress.IPv4Interface),
        gateway=fields["gateway"].parse(ipaddress.IPv4Address),
        mac=fields["mac"].parse(lambda text: Mac.parse(str(text))),
    )


def _switch(name: str, place: _Place) -> Switch:
    fields = place.mapping(required={"device_id", "grpc_port", "ports"})
    return Switch(
        name=str(name),
        device_id=fields["device_id"].whole(),
        grpc_port=fields["grpc_port"].whole(),
        ports=tuple(_port(number, port) for number, port in fields["ports"].mapping().items()),
    )


def _port(number: int, place: _Place) -> Port:
    fields = place.mapping(required={"mac"}, optional={"rate", "queue"})
    return Port(
        number=_Place(number, place.path).whole(),
        mac=fields["mac"].parse(lambda text: Mac.parse(str(text))),
        rate_bps=fields["rate"].parse(units.rate_bps) if "rate" in fields else None,
        queue_packets=fields["queue"].parse(units.packets) if "queue" in fields else None,
    )


def _link(place: _Place) -> Link:
    ends = place.items()
    if len(ends) != 2:
        raise ModelError(f"{place.path} must have two ends, and has {len(ends)}.")
    return Link(*(end.parse(_end) for end in ends))


def _end(text: Any) -> End:
    """`h1`, or `s1:2` for port 2 of s1."""
    node, colon, port = str(text).partition(":")
    if colon and not port.isdigit():
        raise ModelError(f"{text!r} is no end of a link: write h1, or s1:2 for port 2 of s1.")
    return End(node, int(port) if colon else None)
