"""A check of each exercise's purpose.

A check types the commands of the exercise's README, and compares the output with that of a finished
solution, as the README describes it. It returns one phrase for the table, or raises `CheckError`
with the actual output.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.conformance.isolated.outcome import require
from tests.conformance.isolated.prompt import Network

Check = Callable[[Network], str]


@dataclass(frozen=True)
class Exercise:
    """One line of the table."""

    # How the line is called.
    name: str
    # Which folder under exercises/ it runs in.
    folder: str
    check: Check
    # Arguments for `make run`.
    arguments: tuple[str, ...] = ()


def _everybody_reaches_everybody(network: Network) -> None:
    answer = network.ask("pingall")
    match = re.search(r"Results: (\d+)% dropped \((\d+)/(\d+) received\)", answer)
    require(match is not None, f"pingall printed no result: {answer.strip()[-200:]}")
    assert match is not None
    require(match[1] == "0", f"pingall: {match[2]} of {match[3]} pings were answered")


def _receive(network: Network, host: str) -> str:
    """Starts the exercise's receiver in a host and returns the file it writes to."""
    log = f"{host}.log"
    network.ask(f"{host} python3 -u ./receive.py > {log} 2>&1 &")
    network.wait_for(log, "sniffing on")
    # That line comes just before the socket is opened; the kernel lists sockets below a heading.
    network.wait_for_answer(
        f"{host} cat /proc/net/packet",
        lambda listed: len(listed.strip().splitlines()) > 1,
        f"the receiver in {host} never opened its socket",
    )
    return log


def _field(name: str, text: str) -> list[int]:
    """The values of a field in the packets that a receiver has shown, in order."""
    return [int(value, 0) for value in re.findall(rf"\b{name}\s*= (0x[0-9a-f]+|\d+)", text)]


def _tcp(network: Network, client: str, server: str, address: str, seconds: int = 3) -> str:
    """A TCP flow; returns its rate as iperf says it.

    Not Mininet's own `iperf` command: that waits for a report about the connection with which it
    probes the server, and iperf 2.1 makes none of a connection that short.
    """
    network.ask(f"{server} iperf -s > {server}-iperf.log 2>&1 &")
    network.wait_for(f"{server}-iperf.log", "Server listening")
    answer = network.ask(f"{client} iperf -c {address} -t {seconds}")
    match = re.findall(r"[0-9.]+ [KMG]?bits/sec", answer)
    require(bool(match), f"no TCP from {client} to {server}: {answer.strip()[-200:]}")
    return match[-1].replace("bits/sec", "b/s")


def _basic(network: Network) -> str:
    _everybody_reaches_everybody(network)
    log = _receive(network, "h2")
    network.ask('h1 ./send.py 10.0.2.2 "P4 is cool"')
    text = network.wait_for(log, "P4 is cool")
    hops = 64 - _field("ttl", text)[0]
    require(hops >= 1, "the message came with its TTL unchanged")
    return f"all hosts reach each other; a message crosses {hops} switch{'es' * (hops > 1)}"


def _basic_tunnel(network: Network) -> str:
    _everybody_reaches_everybody(network)
    log = _receive(network, "h2")
    # The address is h3's, the tunnel's end is h2: the tunnel must win.
    network.ask('h1 ./send.py 10.0.3.3 "through the tunnel" --dst_id 2')
    text = network.wait_for(log, "through the tunnel")
    require("MyTunnel" in text, "the message arrived without the tunnel's header")
    require(_field("dst_id", text)[0] == 2, "the tunnel's header does not name h2")
    return "all hosts reach each other; the tunnel's id decides, not the address"


def _p4runtime(network: Network) -> str:
    before = network.ask("h1 ping -c 1 -W 1 10.0.2.2")
    require("100% packet loss" in before, "a ping was answered before the controller had run")
    controller = network.start(["./mycontroller.py"], "controller.log")
    try:
        network.wait_for("controller.log", "Reading tunnel counters")
        answer = network.ask("h1 ping -c 4 -i 0.2 10.0.2.2")
        require(" 0% packet loss" in answer, f"pings through the tunnel: {_losses(answer)}")
        # Four requests and four answers: both tunnels count 4 packets at both ends.
        counted = re.compile(r"Tunnel\w* (?:100|200): 4 packets")
        network.wait_until(
            "controller.log",
            lambda text: len(counted.findall(text)) >= 4,
            "the four tunnel counters never all read 4 packets",
        )
    finally:
        controller.kill()
        controller.wait()
    return "the controller's tunnel carries pings; its counters read 4 packets at both ends"


def _losses(ping: str) -> str:
    match = re.search(r"\d+ packets transmitted.*", ping)
    return match[0] if match else ping.strip()[-200:]


def _congest(network: Network, field: str) -> tuple[str, list[int]]:
    """A slow flow h1 to h2 while a fast one from h11 to h22 fills the line that they share."""
    log = _receive(network, "h2")
    network.ask("h22 iperf -s -u > h22.log 2>&1 &")
    network.ask('h1 python3 -u ./send.py 10.0.2.2 "P4 is cool" 20 > h1.log 2>&1 &')
    # Some packets pass the idle line first.
    network.wait_until(log, lambda text: len(_field(field, text)) >= 2, "h2 received nothing")
    network.ask("h11 iperf -c 10.0.2.22 -t 12 -u")
    network.wait_until(
        log, lambda text: len(_field(field, text)) >= 8, "h2 received fewer than 8 packets"
    )
    return log, _field(field, network.read(log))


def _ecn(network: Network) -> str:
    _log, values = _congest(network, "tos")
    require(values[0] == 1, f"the first packet came over an idle line with tos {values[0]}")
    require(set(values) == {1, 3}, f"tos must become 3 while the line is full; seen: {values}")
    marked = f"{values.count(3)} of {len(values)}"
    return f"tos 1 while the line is idle, 3 on {marked} packets when it is full"


def _mri(network: Network) -> str:
    log, values = _congest(network, "qdepth")
    text = network.read(log)
    counts = _field("count", text)
    require(set(counts) == {2}, f"each packet must carry 2 switches' records; seen: {counts}")
    require({1, 2} <= set(_field("swid", text)), "the records do not name switches 1 and 2")
    require(max(values) > 0, f"no packet saw a queue; depths: {values}")
    return f"2 records in each packet; the deepest queue seen holds {max(values)} packets"


def _source_routing(network: Network) -> str:
    log = _receive(network, "h2")
    network.ask(r"h1 printf '2 3 2 2 1\n2 1\nq\n' | ./send.py 10.0.2.2")
    text = network.wait_until(
        log, lambda text: len(_field("ttl", text)) >= 2, "h2 did not receive both packets"
    )
    # One switch for each port in the list.
    ttls = _field("ttl", text)
    require(ttls[:2] == [64 - 5, 64 - 2], f"after 5 and 2 switches the TTLs are {ttls[:2]}")
    return "packets take the listed ports: 5 switches, then 2"


def _calc(network: Network) -> str:
    sums = {"1+1": 2, "7-9": 2**32 - 2, "12&10": 8, "12|3": 15, "6^3": 5}
    lines = "\\n".join(sums)
    answer = network.ask(f"h1 printf '{lines}\\nquit\\n' | python3 calc.py")
    for expression, result in sums.items():
        found = re.search(rf"{re.escape(expression)}\s*\n\s*(.*)", answer)
        said = found[1].strip() if found else "nothing"
        require(said == str(result), f"{expression} is {result}, and the switch said {said!r}")
    return f"{len(sums)} operations right"


def _load_balance(network: Network) -> str:
    logs = [_receive(network, host) for host in ("h2", "h3")]
    # Two paths and 12 random flows: all on one side once in 2,048 runs.
    network.ask("h1 for flow in 1 2 3 4 5 6 7 8 9 10 11 12; do ./send.py 10.0.0.1 cool; done")

    def received() -> list[int]:
        return [network.read(log).count("got a packet") for log in logs]

    network.wait_until(logs[0], lambda _text: sum(received()) >= 12, "12 messages did not arrive")
    require(min(received()) > 0, f"the 12 flows went to one host only: {received()}")
    return f"12 flows: {received()[0]} to h2, {received()[1]} to h3"


def _qos(network: Network) -> str:
    log = _receive(network, "h2")
    for protocol in ("UDP", "TCP"):
        network.ask(f'h1 ./send.py --p={protocol} --des=10.0.2.2 --m="P4 is cool" --dur=1')

    def messages(text: str) -> list[str]:
        # Answers of h2's kernel (port unreachable, reset) are captured, too.
        packets = text.split("got a packet")
        return [it for it in packets if "P4 is cool" in it and "ICMP" not in it]

    text = network.wait_until(
        log, lambda text: len(messages(text)) >= 2, "h2 did not receive both messages"
    )
    # DSCP 46 and 44 above the ECN bits 1.
    wanted = [46 << 2 | 1, 44 << 2 | 1]
    seen = [_field("tos", packet)[0] for packet in messages(text)]
    require(seen[:2] == wanted, f"tos of UDP and TCP must be {wanted}; seen: {seen[:2]}")
    return "UDP leaves as expedited forwarding (0xb9), TCP as voice admit (0xb1)"


def _multicast(network: Network) -> str:
    _everybody_reaches_everybody(network)
    # ARP has no other way than the multicast group, so an empty neighbour table proves it.
    network.ask("h1 ip neigh flush all")
    answer = network.ask("h1 ping -c 2 -i 0.2 10.0.0.4")
    require("duplicates" not in answer, "the pings were answered more than once")
    require(" 0% packet loss" in answer, f"h1 to h4: {_losses(answer)}")
    return "all four hosts find and reach each other"


def _firewall(network: Network) -> str:
    _everybody_reaches_everybody(network)
    _tcp(network, "h1", "h2", "10.0.2.2")
    _tcp(network, "h1", "h3", "10.0.3.3")
    network.ask("h1 iperf -s -p 6000 > h1-iperf.log 2>&1 &")
    network.wait_for("h1-iperf.log", "Server listening")
    connect = "python3 -c \"import socket; socket.create_connection(('10.0.1.1', 6000), 3)\""
    require("Error" not in network.ask(f"h2 {connect}"), "h2 cannot connect to its neighbour h1")
    require("timed out" in network.ask(f"h3 {connect}"), "h3 can connect to h1 from outside")
    return "TCP inside and outward passes, inward is blocked"


def _link_monitor(network: Network) -> str:
    log = _receive(network, "h1")
    network.ask("h1 python3 -u ./send.py > h1-send.log 2>&1 &")
    _tcp(network, "h1", "h4", "10.0.4.4", 5)
    rates = re.compile(r"Switch (\d+) - Port (\d+): ([0-9.]+) Mbps")
    text = network.wait_until(log, lambda text: len(rates.findall(text)) >= 32, "few probes came")
    seen = {(switch, port): 0.0 for switch, port, _ in rates.findall(text)}
    for switch, port, rate in rates.findall(text):
        seen[switch, port] = max(seen[switch, port], float(rate))
    require(len({switch for switch, _ in seen}) == 4, f"probes report {sorted(seen)} only")
    require(max(seen.values()) > 1.0, f"no link was seen in use: {seen}")
    return f"probes report {len(seen)} ports; the busiest carried {max(seen.values()):.0f} Mb/s"


def _flowcache(network: Network) -> str:
    require(
        "100% packet loss" in network.ask("h1 ping -c 1 -W 1 10.0.2.2"),
        "a ping was answered before the controller had run",
    )
    controller = network.start(["./mycontroller.py"], "controller.log")
    try:
        network.wait_for("controller.log", "on s3")
        answer = network.ask("h1 ping -c 10 -i 0.5 10.0.2.2")
        received = [int(count) for count in re.findall(r"(\d+) received", answer)]
        require(sum(received) >= 5, f"pings: {_losses(answer)}")
        text = network.wait_for("controller.log", "ingressPktOutCounter")
        require("decodePacketInMetadata" in text, "the controller saw no packet-in")
    finally:
        controller.kill()
        controller.wait()
    return f"packet-in, packet-out and cached flows: {sum(received)} of 10 pings"


EXERCISES = (
    Exercise("basic", "basic", _basic),
    Exercise("basic (triangle)", "basic", _basic, ("TOPO=triangle-topo/topology.json",)),
    Exercise("basic_tunnel", "basic_tunnel", _basic_tunnel),
    Exercise("p4runtime", "p4runtime", _p4runtime),
    Exercise("ecn", "ecn", _ecn),
    Exercise("mri", "mri", _mri),
    Exercise("source_routing", "source_routing", _source_routing),
    Exercise("calc", "calc", _calc),
    Exercise("load_balance", "load_balance", _load_balance),
    Exercise("qos", "qos", _qos),
    Exercise("multicast", "multicast", _multicast),
    Exercise("firewall", "firewall", _firewall),
    Exercise("link_monitor", "link_monitor", _link_monitor),
    Exercise("flowcache", "flowcache", _flowcache),
)
