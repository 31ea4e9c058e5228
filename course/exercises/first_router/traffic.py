"""Two hosts talk through two of the submitted routers."""

from __future__ import annotations

import ipaddress

from controller.entries import Call, Entry, Lpm
from controller.session import Session
from course.exercises.first_router.router import Router
from course.story import Moment, Refused, Story
from course.tools.network import neighbour_mac, network, runs, topology
from topo.model import Switch

PINGS = 3
LENGTH_BYTES = 300_000
# When the pings are over and TCP begins.
_PINGED_S = 10
_NETWORK = topology("""
hosts:
  h1: {address: 10.0.1.1/24, tcp: {congestion: cubic}}
  h2: {address: 10.0.2.1/24, tcp: {congestion: cubic}}
switches:
  s1:
    ports:
      1: {address: 10.0.1.254/24, rate: 100 Mb/s}
      2: {rate: 10 Mb/s, queue: 50 packets}
  s2:
    ports:
      1: {rate: 10 Mb/s, queue: 50 packets}
      2: {address: 10.0.2.254/24, rate: 100 Mb/s}
links:
  - [h1, s1:1]
  - {ends: [s1:2, s2:1], delay: 2 ms}
  - [s2:2, h2]
""")
# The ports toward 10.0.1.0/24 and 10.0.2.0/24.
_PORTS = {"s1": (1, 2), "s2": (1, 2)}


def talk(router: Router) -> None:
    """h1 pings h2, then sends it a file over TCP."""
    load = runs(router.program, _fill)
    with network(router.program.work, _NETWORK, load, film="traffic") as net:
        ping = net.ping("h1", "h2", PINGS)
        net.let_pass(_PINGED_S)
        echoes = len(net.report(ping).ping.echoes)
        if echoes < PINGS:
            raise Refused(
                _story(
                    f"h1 pinged h2 {PINGS} times through two of your routers.",
                    f"{PINGS} answers.",
                    "RFC 1122, section 3.2.2.6: a host answers an echo request that reaches it "
                    "whole, and drops one that is not addressed to it or whose checksum is wrong.",
                    f"{echoes} answers.",
                    0.0,
                )
            )
        transfer = net.transfer("h1", "h2", 5201, length_bytes=LENGTH_BYTES)
        net.let_pass(10)
        acked = net.report(transfer).bulk.acked_bytes
        if acked < LENGTH_BYTES:
            raise Refused(
                _story(
                    f"h1 sent h2 {LENGTH_BYTES} bytes over TCP through two of your routers.",
                    "All of them to be acknowledged within 10 s; at 10 Mb/s they take a quarter "
                    "of a second.",
                    "RFC 9293: TCP sends again what was lost, but not what is always lost.",
                    f"{acked} bytes were acknowledged.",
                    _PINGED_S,
                )
            )


def _fill(switch: Switch, session: Session) -> None:
    entries = []
    for net, port in zip(("10.0.1.0", "10.0.2.0"), _PORTS[switch.name], strict=True):
        neighbour = neighbour_mac(_NETWORK, switch.name, port)
        entries.append(
            Entry(
                "routes",
                {"hdr.ipv4.dst_addr": Lpm(ipaddress.IPv4Address(net), 24)},
                Call("forward", port=port, src_addr=switch.port(port).mac, dst_addr=neighbour),
            )
        )
    session.insert(entries)


def _story(done: str, expected: str, because: str, came: str, at_s: float) -> Story:
    return Story(done, expected, because, came, moment=Moment(at_s))
