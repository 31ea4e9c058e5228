"""A router's knowledge: its neighbours' MAC addresses, static routes, and the whole network."""

from __future__ import annotations

import heapq
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from random import Random

from course.exercise import SOLUTIONS, Work
from course.exercises.control_plane import speak
from course.exercises.control_plane.desk import ROUTER, Desk, advert, desk
from course.exercises.control_plane.fabric import Fabric, Hop, asked_of, led
from course.exercises.control_plane.process import Act, Sent
from course.exercises.control_plane.speak import Advert, Station
from course.story import Moment, Refused, Story
from course.tools.network import topology
from topo.model import End, Topology

NAME = "control-plane"
# Work of others. An installation for students has none, because it is made of the reference.
PEERS = SOLUTIONS / NAME / "others"
REFERENCE = SOLUTIONS / NAME / "right" / "control.py"
NO_PEERS = "without routers of others, which only graders have; what was checked gives all points"
SETTLED_S = 2.0
MENDED_S = 1.0
SINK = 7000
_STATIC = "172.16.5.0/24"
_NEXT_HOP = (
    "RFC 1812, section 5.2.4, and RFC 826: what is for another network goes to the next hop; a "
    "frame needs the next hop's MAC address, and who has it is found out by asking for its IP "
    "address. "
)
_SHORTEST = (
    "Dijkstra 1959, and OSPF, RFC 2328, section 16.1: of all ways the one whose costs add up to "
    "the least; a link counts only if the routers at both its ends tell of it. "
)
_FLOOD = (
    "RFC 2328, section 13: of two adverts of one router the one with the higher number is newer. "
    "Only what is newer than what is known is kept, and passed on to all but the one who told. "
)
_HELLO = "The handout: a hello every 0.2 s, and a neighbour unheard of for 0.7 s is gone. "


# ---- one router ----------------------------------------------------------------------------------


def neighbours(work: Work) -> None:
    """The router resolves the next hop; packets wait for the answer, then the table knows it."""
    with desk(work, static=[(_STATIC, 77)]) as router:
        source, mac = router.station(1, 5), router.own(1).mac
        direct, gateway = router.station(2, 9), router.station(2, 77)
        far = IPv4Address("172.16.5.9")
        for target, hop, network in (
            (direct.address, direct, IPv4Network(direct.address)),
            (far, gateway, IPv4Network(_STATIC)),
        ):
            frames = [
                speak.packet(source, mac, target, speak.UDP, speak.datagram(bytes([number])))
                for number in range(2)
            ]
            asked: list[Act] = []
            for frame in frames:
                asked += router.comes(1, speak.NO_ROUTE, frame)
            _asks_once(router, asked, hop, target)
            own = router.own(2)
            answered = router.comes(2, speak.NEIGHBOUR, speak.arp(2, own.mac, hop, own))
            _goes_on(router, answered, frames, hop)
            wanted = Hop(2, int.from_bytes(hop.mac, "big"))
            found = _looked_up(router.table, target)
            if found != wanted:
                router.refuse(
                    f"{hop.address} said what its MAC address is.",
                    f"An entry for {network}: set_next_hop to port 2 and {hop.mac.hex(':')}, so "
                    "that the next packet does not come to the controller.",
                    _NEXT_HOP,
                    "There is none that fits."
                    if found is None
                    else f"It leads by port {found.port} to {found.mac:012x}.",
                    answered,
                )


def _asks_once(router: Desk, acts: list[Act], hop: Station, target: IPv4Address) -> None:
    nobody = Station(hop.address, bytes(6))
    question = speak.arp(1, speak.BROADCAST, router.own(2), nobody)
    asked = [act for act in acts if isinstance(act, Sent) and act.frame[12:14] == b"\x08\x06"]
    shapes = [(act.port, act.frame[:32], act.frame[38:42]) for act in asked]
    if shapes != [(2, question[:32], question[38:42])]:
        came = "; ".join(speak.words(asked)) or "It asked nobody"
        router.refuse(
            f"Two packets for {target} came within a moment. The next hop is {hop.address}.",
            f"One question by port 2: {speak.frame_words(question)}.",
            _NEXT_HOP + "RFC 1122, section 2.3.2.1: not for every packet, once a second at most.",
            f"{came}.",
            acts,
        )


def _goes_on(router: Desk, acts: list[Act], frames: list[bytes], hop: Station) -> None:
    head = hop.mac + router.own(2).mac
    wanted = [Sent(2, head + frame[12:]) for frame in frames]
    sent = [act for act in acts if isinstance(act, Sent)]
    if sent != wanted:
        router.refuse(
            f"{hop.address} said what its MAC address is. Two packets wait for it.",
            "Both to leave by port 2 in their order, to this address, else as they were.",
            _NEXT_HOP + "RFC 1122, section 2.3.2.2: packets wait for the answer; the first of a "
            "connection would be lost otherwise.",
            "; ".join(speak.words(sent)) or "Nothing left.",
            acts,
        )


def _looked_up(table: dict[IPv4Network, Hop], target: IPv4Address) -> Hop | None:
    fitting = [network for network in table if target in network]
    return table[max(fitting, key=lambda each: each.prefixlen)] if fitting else None


def _meet(router: Desk, *, every_s: dict[int, int] | None = None) -> Callable[[], None]:
    """Both neighbours say hello; the function says it again, for some less often."""
    turn = {3: 0, 4: 0}
    names = {3: "10.255.0.2", 4: "10.255.0.3"}

    def hellos() -> None:
        for number, name in names.items():
            turn[number] += 1
            if turn[number] % (every_s or {}).get(number, 2) == 0:
                router.tells(number, speak.hello(IPv4Address(name)))

    for number, name in names.items():
        router.tells(number, speak.hello(IPv4Address(name)))
    return hellos


def _adverts(sequence: int = 1) -> dict[str, Advert]:
    """Routers 2 and 3 are the router's neighbours; 4 is behind both, 5 behind 4."""
    own = str(ROUTER)
    return {
        "2": advert("10.255.0.2", sequence, [(own, 5), ("10.255.0.4", 1)], ["192.168.2.0/24"]),
        "3": advert("10.255.0.3", sequence, [(own, 8), ("10.255.0.4", 1)], ["192.168.3.0/24"]),
        "4": advert(
            "10.255.0.4",
            sequence,
            [("10.255.0.2", 1), ("10.255.0.3", 1), ("10.255.0.5", 2)],
            ["192.168.4.0/24"],
        ),
        "5": advert("10.255.0.5", sequence, [("10.255.0.4", 2)], ["192.168.5.0/24"]),
    }


def _ways(router: Desk, wanted: dict[str, int], done: str, because: str) -> None:
    """For each network, the port that leads to it; 0: none does."""
    for prefix, port in wanted.items():
        target = IPv4Network(prefix)[9]
        found = _looked_up(router.table, target)
        if (found.port if found else 0) != port:
            router.refuse(
                done,
                f"What is for {prefix} to leave by port {port}."
                if port
                else f"No entry for {prefix}, to which no way leads any more.",
                because,
                f"It leaves by port {found.port}." if found else "There is no entry for it.",
            )


def old_news(work: Work) -> None:
    """Old adverts change nothing and are not passed on; new ones are, but not to their sender."""
    with desk(work) as router:
        hellos = _meet(router)
        news = _adverts(5)
        for each in news.values():
            acts = router.tells(3, each.bytes)
        told = sorted(act.port for act in acts if isinstance(act, Sent) and _is(act, news["5"]))
        if told != [4]:
            router.refuse(
                "Port 3 brought an advert that was news.",
                "It to leave by port 4, once, and by no other port.",
                _FLOOD,
                f"It left by: {', '.join(map(str, told)) or 'none'}.",
                acts,
            )
        router.waits(0.2, hellos)
        lost = advert("10.255.0.5", 4, [("10.255.0.4", 90)], ["192.168.77.0/24"])
        for what, old in (("older", lost), ("already known", news["5"])):
            acts = router.tells(4, old.bytes)
            if any(isinstance(act, Sent) and speak.advert_of(act.frame) for act in acts):
                router.refuse(
                    f"Port 4 brought an advert that is {what}.",
                    "Nothing to be passed on.",
                    _FLOOD + "Else it goes round for ever.",
                    "It was passed on.",
                    acts,
                )
        done = "Port 4 brought advert 4 of router 10.255.0.5, after advert 5 was known."
        wanted = {"192.168.5.0/24": 3, "192.168.77.0/24": 0}
        _ways(router, wanted, done, _FLOOD)


def _is(act: Sent, wanted: Advert) -> bool:
    found = speak.advert_of(act.frame)
    return found is not None and found.origin == wanted.origin


def interoperates(work: Work) -> None:
    """Beside routers that keep to the letter of the handout and not to its habits."""
    with desk(work) as router:
        hellos = _meet(router, every_s={3: 1, 4: 5})
        news = _adverts(7)
        # One tells from the far end on, before anybody near it; the other tells twice, and late.
        for name in ("5", "4", "2"):
            router.tells(3, news[name].bytes)
        for name in ("3", "4", "3", "5"):
            router.tells(4, news[name].bytes)

        def again_and_again() -> None:
            hellos()
            for each in news.values():
                router.tells(3, each.bytes)

        router.waits(1.5, again_and_again)
        done = "Port 3 leads to 10.255.0.2 at cost 5, port 4 to 10.255.0.3 at cost 8; both lead to "
        done += "10.255.0.4 at cost 1. One says hello every 0.1 s and repeats all it knows, the "
        done += "other every 0.5 s and tells from the far end on."
        wanted = {f"192.168.{number}.0/24": port for number, port in ((2, 3), (4, 3), (5, 3))}
        _ways(router, {**wanted, "192.168.3.0/24": 3}, done, _SHORTEST)
        half = advert("10.255.0.4", 8, [("10.255.0.3", 1), ("10.255.0.5", 2)], ["192.168.4.0/24"])
        router.tells(4, half.bytes)
        done = "10.255.0.4 no longer tells of a link to 10.255.0.2, which still tells of one."
        _ways(router, {"192.168.4.0/24": 4, "192.168.5.0/24": 4}, done, _SHORTEST)
        before = advert(str(ROUTER), 4_000_000, [("10.255.0.9", 1)], [])
        acts = router.tells(3, before.bytes)
        mine = [speak.advert_of(act.frame) for act in acts if isinstance(act, Sent)]
        if not any(each and each.origin == ROUTER and each.sequence > 4_000_000 for each in mine):
            router.refuse(
                f"Port 3 brought an advert of {ROUTER}, the router itself, with number 4000000: "
                "one of a life before this one.",
                "A new one of its own with a higher number.",
                "RFC 2328, section 13.4: until then everybody believes the old one.",
                "There was none.",
                acts,
            )
    _beside_others(work)


# ---- networks ------------------------------------------------------------------------------------


def static(work: Work) -> None:
    """Two hosts talk through two routers with static routes."""
    of = topology("""
gateways: learned
hosts:
  h1: {address: 10.0.1.1/24}
  h2: {address: 10.0.2.1/24}
switches:
  s1:
    ports:
      1: {address: 10.0.1.254/24, rate: 100 Mb/s}
      2: {address: 10.1.0.1/30, rate: 10 Mb/s}
  s2:
    ports:
      1: {address: 10.0.2.254/24, rate: 100 Mb/s}
      2: {address: 10.1.0.2/30, rate: 10 Mb/s}
links:
  - [h1, s1:1]
  - [h2, s2:1]
  - {ends: [s1:2, s2:2], delay: 2 ms}
""")
    ways = {"s1": [("10.0.2.0/24", "10.1.0.2")], "s2": [("10.0.1.0/24", "10.1.0.1")]}
    asked = asked_of(of, static=ways, routing=False)
    with led(work, of, asked, lambda _: work.folder, film="static") as fabric:
        net, length = fabric.net, 200_000
        ping = net.ping("h1", "h2", 3)
        fabric.let_pass(4.0)
        echoes = len(net.report(ping).ping.echoes)
        if echoes < 3:
            raise _refused(
                "h1 pinged h2 three times through s1 and s2, which have static routes to each "
                "other's hosts and no MAC address but their own.",
                "Three answers: packets wait while ARP asks for the next hop.",
                _NEXT_HOP,
                f"{echoes} answers.",
                1.0,
            )
        bulk = net.transfer("h1", "h2", 5201, length_bytes=length)
        fabric.let_pass(2.0)
        acked = net.report(bulk).bulk.acked_bytes
        if acked < length:
            raise _refused(
                f"h1 sent h2 {length} bytes over TCP; at 10 Mb/s they take 0.2 s.",
                "All of them within 2 s.",
                _NEXT_HOP + "A controller is too slow for every packet: entries are its work.",
                f"{acked} bytes.",
                5.0,
            )


@dataclass(frozen=True)
class Net:
    """A network of routers that speak link state; each has a host."""

    topology: Topology
    costs: dict[tuple[str, int], int]

    def cost(self, port: End) -> int:
        """The cost of a router's port."""
        assert port.port is not None
        return self.costs.get((port.node, port.port), 1)

    def distances(self, target: str, without: str = "") -> dict[str, int]:
        """The cost of the best path from each router to `target`, not over the link `without`."""
        far: dict[str, int] = {}
        heap = [(0, target)]
        while heap:
            distance, name = heapq.heappop(heap)
            if name in far:
                continue
            far[name] = distance
            for link in self.topology.links:
                for here, there in ((link.a, link.b), (link.b, link.a)):
                    is_of_routers = here.port is not None and there.port is not None
                    if is_of_routers and here.node == name and str(link) != without:
                        heapq.heappush(heap, (distance + self.cost(there), there.node))
        return far

    def way(self, fabric: Fabric, start: str, target: str) -> tuple[int, list[str]]:
        """The way by the tables to a router's host, and what it costs; -1: it leads nowhere."""
        host = self.topology.host(f"h{target[1:]}").address.ip
        name, cost, passed = start, 0, [start]
        while name != target:
            hop = _looked_up(fabric.tables[name], IPv4Address(str(host)))
            if hop is None or len(passed) > len(self.topology.switches):
                return -1, passed
            far = self.topology.neighbour(End(name, hop.port))
            if far.port is None:
                return -1, [*passed, far.node]
            cost += self.cost(End(name, hop.port))
            name = far.node
            passed.append(name)
        return cost, passed


def drawn(dice: Random, count: int, more: str = "") -> Net:
    """A ring with some chords, whose links cost 1 to 9; each port has `more` settings."""
    chords = [(a, b) for a in range(count) for b in range(a + 2, count) if (b + 1) % count != a]
    return _net(dice, count, dice.sample(chords, min(len(chords), count - 3)), more)


def ring(dice: Random, more: str = "") -> Net:
    """Four routers, none of which has a link to the one across."""
    return _net(dice, 4, [], more)


def _net(dice: Random, count: int, chords: Sequence[tuple[int, int]], more: str) -> Net:
    names = [f"s{number}" for number in range(1, count + 1)]
    pairs = [*((number, (number + 1) % count) for number in range(count)), *chords]
    ports: dict[str, list[str]] = {name: [] for name in names}
    links, costs = [], {}
    for number, name in enumerate(names, 1):
        ports[name].append(f"1: {{address: 10.0.{number}.254/24, rate: 1 Gb/s{more}}}")
        links.append(f"[h{number}, {name}:1]")
    for number, pair in enumerate(pairs):
        cost = dice.randrange(1, 10)
        ends = []
        for last, index in enumerate(pair, 1):
            port = len(ports[names[index]]) + 1
            address = f"10.1.{number}.{last}/30"
            ports[names[index]].append(f"{port}: {{address: {address}, rate: 100 Mb/s{more}}}")
            costs[names[index], port] = cost
            ends.append(f"{names[index]}:{port}")
        links.append(f"{{ends: [{', '.join(ends)}], delay: 1 ms}}")
    hosts = "\n".join(f"  h{n}: {{address: 10.0.{n}.1/24}}" for n in range(1, count + 1))
    switches = "\n".join(f"  {name}: {{ports: {{{', '.join(ports[name])}}}}}" for name in names)
    text = "\n".join(f"  - {link}" for link in links)
    return Net(
        topology(f"gateways: learned\nhosts:\n{hosts}\nswitches:\n{switches}\nlinks:\n{text}\n"),
        costs,
    )


def shortest(work: Work) -> None:
    """Every host reaches every other one, by the way that costs the least."""
    dice = work.dice("shortest")
    for count in (3, dice.choice((5, 6))):
        net = drawn(dice, count)
        _all_reach(work, net, f"shortest-{count}", lambda _: work.folder)


def _all_reach(work: Work, net: Net, film: str, folder: Callable[[str], Path]) -> None:
    asked = asked_of(net.topology, costs=net.costs)
    with led(work, net.topology, asked, folder, film=film) as fabric:
        fabric.let_pass(SETTLED_S)
        _is_shortest(fabric, net, "")
        pings = [
            (one.name, other.name, fabric.net.ping(one.name, other.name))
            for one in net.topology.hosts
            for other in net.topology.hosts
            if one is not other
        ]
        fabric.let_pass(1.5)
        for one, other, app in pings:
            if not fabric.net.report(app).ping.echoes:
                raise _refused(
                    f"After {SETTLED_S:.0f} s every host pinged every other one, through "
                    f"{len(net.topology.switches)} routers.",
                    f"An answer from {other} to {one}.",
                    _NEXT_HOP + "The last router on the way asks for the host.",
                    "None came within 1.5 s.",
                    SETTLED_S,
                )


def _is_shortest(fabric: Fabric, net: Net, without: str) -> None:
    for target in fabric.tables:
        far = net.distances(target, without)
        for start in fabric.tables:
            cost, passed = net.way(fabric, start, target)
            if cost != far[start]:
                links = ", ".join(
                    f"{link.a.node}-{link.b.node} {net.cost(link.a)}"
                    for link in net.topology.links
                    if link.a.port is not None and link.b.port is not None
                )
                raise _refused(
                    f"{len(fabric.tables)} routers had until {fabric.now_s:.1f} s to tell each "
                    f"other of their links, which cost: {links}."
                    + (" One was cut." if without else ""),
                    f"The way from {start} to the host at {target} to cost {far[start]}.",
                    _SHORTEST,
                    f"It leads nowhere: {' > '.join(passed)}."
                    if cost < 0
                    else f"It costs {cost}: {' > '.join(passed)}.",
                    fabric.now_s,
                )


def cut(work: Work) -> None:
    """When a link is cut packets take another way within a second, and the old one after it."""
    dice = work.dice("cut")
    net = drawn(dice, 4)
    start, target = "s1", "s3"
    asked = asked_of(net.topology, costs=net.costs)
    with led(work, net.topology, asked, lambda _: work.folder, film="cut") as fabric:
        sink = fabric.net.sink("h3", SINK)
        fabric.net.datagrams("h1", "h3", SINK, rate_bps=160_000, span_s=6, payload_bytes=200)
        fabric.let_pass(SETTLED_S)
        _, passed = net.way(fabric, start, target)
        _is_shortest(fabric, net, "")
        link = next(
            each for each in net.topology.links if {each.a.node, each.b.node} == set(passed[:2])
        )
        assert link.a.port is not None
        cut_s = fabric.now_s
        fabric.net.cut(link.a.node, link.a.port)
        fabric.let_pass(MENDED_S)
        _is_shortest(fabric, net, str(link))
        before = fabric.net.flow(sink).received
        fabric.let_pass(0.5)
        came = fabric.net.flow(sink).received - before
        if came < 45:
            raise _refused(
                f"h1 sent h3 100 datagrams a second. At {cut_s:.1f} s the link "
                f"{passed[0]}-{passed[1]}, on their way, was cut.",
                f"All 50 of the half second that begins {MENDED_S:.0f} s later to arrive.",
                _HELLO + "Then both ends tell of it, and everybody computes anew.",
                f"{came} arrived.",
                cut_s,
            )
        fabric.net.mend(link.a.node, link.a.port)
        fabric.let_pass(MENDED_S)
        _is_shortest(fabric, net, "")


def _beside_others(work: Work) -> None:
    """A ring of four routers: the submission and three other solutions, if they are installed."""
    if not PEERS.is_dir():
        work.place.left_out = NO_PEERS
        return
    folders = {"s1": work.folder}
    for name, folder in zip(("s2", "s3", "s4"), sorted(PEERS.iterdir()), strict=True):
        folders[name] = work.scratch / "others" / folder.name
        if not folders[name].exists():
            other(folder, folders[name])
    _all_reach(work, drawn(work.dice("others"), 4), "interoperates", folders.__getitem__)


def peers() -> list[Path]:
    """The files of the other solutions' routers, without those that students have."""
    return [*sorted(PEERS.rglob("*.py")), REFERENCE]


def other(folder: Path, into: Path) -> None:
    """A copy of another solution, with the files that it shares with the reference."""
    shutil.copytree(folder, into)
    for file, as_file in _SHARED:
        shutil.copy(file, into / as_file)


_SHARED = (
    (REFERENCE, "reference.py"),
    (Path(__file__).parent / "start" / "frames.py", "frames.py"),
)


def _refused(done: str, expected: str, because: str, came: str, at_s: float) -> Refused:
    return Refused(Story(done, expected, because, came, moment=Moment(at_s)))
