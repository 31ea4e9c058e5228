"""The exercises, solved: what their READMEs ask of a solution."""

from __future__ import annotations

import re

from tests.conformance.isolated.outcome import require
from tests.conformance.isolated.prompt import Network

from .asking import (
    cli,
    everybody_reaches_everybody,
    listen,
    paths_taken,
    pings,
    sent_by,
    tcp,
)
from .examples import EXAMPLES
from .networks import Check, Described

# Addresses, ports, protocol and number of a packet, as scripts print them.
_FLOW = re.compile(r"\('[0-9.]+', '[0-9.]+', \d+, \d+, \d+, \d+")
_UPLINKS = [f"s1-eth{port}" for port in (2, 3, 4, 5)]


def _repeater(network: Network, _described: Described) -> str:
    log = listen(network, "h2")
    network.ask('h1 python3 send.py 10.0.0.2 "Hello H2"')
    network.wait_for(log, "MESSAGE")
    require(pings(network, "h1", "10.0.0.2") == 2, "h2 does not answer pings")
    return f"a message came, pings and TCP pass ({tcp(network, 'h1', 'h2', '10.0.0.2')})"


def _flooding(network: Network, described: Described) -> str:
    back = "all-ports" in described.file
    everybody_reaches_everybody(network)
    network.ask("h1 ip neigh flush all")
    ports = [f"s1-eth{port}" for port in (1, 2, 3, 4)]
    taken = paths_taken(network, "h1 ping -c 1 -W 1 10.0.0.2", ports)
    require(min(taken[1:]) >= 1, f"the four ports sent {taken}")
    # The answer to the ping, that to the question for its address, and the question itself.
    require((taken[0] >= 3) == back, f"port 1 sent {taken[0]} frames")
    return f"a question for an address: the four ports sent {taken}"


def _learning(network: Network, described: Described) -> str:
    if "p4runtime" not in described.folder:
        return EXAMPLES["examples/l2_learning"](network, described)
    if "multi" not in described.file:
        how = "cpu" if "cpu" in described.file else "digest"
        network.start(["python3", "-u", "l2_learning_controller.py", "s1", how], "controller.log")
    network.wait_for_answer(
        "pingall", lambda said: " 0% dropped" in said, "pingall kept losing packets"
    )
    learnt = cli(network, "table_dump dmac").count("forward")
    require(learnt >= 4, f"the table has {learnt} addresses")
    return f"{learnt} addresses learnt through P4Runtime"


def _rsvp(network: Network, described: Described) -> str:
    simple = "simple" in described.file
    far = "h3" if simple else "h5"
    pair = (f"add_reservation h1 {far} 1000 2 1", f"add_reservation {far} h1 1000 2 1")
    said = network.run(["python3", "rsvp_controller.py"], "\n".join([*pair, "exit", ""]))
    made = said.count("Successful reservation")
    require(made == 2, f"{made} of 2 reservations were made: {said.strip()[-200:]}")
    answer = network.ask(f"h1 ping -c 2 -i 0.2 -W 1 {far}")
    require(" 0% packet loss" in answer, f"{far} does not answer: {answer.strip()[-200:]}")
    network.ask(f"{far} iperf -s -u -p 5300 > {far}-udp.log 2>&1 &")
    network.wait_for(f"{far}-udp.log", "Server listening")
    told = network.ask(f"h1 iperf -c {far} -u -p 5300 -b 8M -t 5")
    rate = re.findall(r"([0-9.]+) Mbits/sec +[0-9.]+ ms", told)
    require(bool(rate), f"no report of the receiver: {told.strip()[-300:]}")
    require(float(rate[-1]) < 4.5, f"2 Mb/s are reserved, and {rate[-1]} arrive")
    return f"of 8 Mb/s {rate[-1]} arrive where 2 are reserved, with a burst of 700 kB"


def _routed_ecmp(network: Network, _described: Described) -> str:
    everybody_reaches_everybody(network)
    taken = paths_taken(network, "h1 python3 send.py 10.0.6.2 200", _UPLINKS)
    require(min(taken) > 20, f"200 flows took the four paths so: {taken}")
    return f"200 flows over four paths: {taken}"


def _routing(network: Network, _described: Described) -> str:
    network.run(["python3", "routing-controller.py"])
    everybody_reaches_everybody(network)
    taken = paths_taken(network, "h1 python3 send.py 10.6.2.2 200", _between(network, "s1"))
    require(sum(count > 20 for count in taken) >= 4, f"200 flows took the paths so: {taken}")
    return f"200 flows over {len(taken)} paths: {taken}"


def _between(network: Network, switch: str) -> list[str]:
    """The devices of a switch that lead to other switches."""
    said = network.ask("net")
    line = re.search(rf"^{switch} .*$", said, re.MULTILINE)
    require(line is not None, f"`net` does not name {switch}")
    assert line is not None
    return re.findall(rf"({switch}-eth\d+):s\d+-eth", line[0])


def _sketch(network: Network, _described: Described) -> str:
    network.run(["python3", "cm-sketch-controller.py", "--option", "set_hashes"])
    network.ask("h1 python3 send.py --n-pkt 1000 --n-hh 2 --n-sfw 0 --p-hh 1")
    said = network.run(
        [
            "python3",
            "cm-sketch-controller.py",
            "--eps",
            "0.1",
            "--n",
            "1000",
            "--mod",
            "28",
            "--option",
            "decode",
        ]
    )
    pairs = [(int(sent), int(read)) for sent, read in re.findall(r"cms: (\d+)/(\d+)", said)]
    require(len(pairs) == 2, f"two flows were sent: {said.strip()[-200:]}")
    require(all(sent <= read <= 1000 for sent, read in pairs), f"sent and read: {pairs}")
    return f"sent and read: {pairs}"


def _traceroute(network: Network, _described: Described) -> str:
    network.run(["python3", "routing-controller.py"])
    everybody_reaches_everybody(network)
    ways = set()
    for port in range(6000, 6008):
        said = network.ask(f"h1 traceroute -n -w 1 -q 1 -T --sport={port} --port=80 10.6.2.2")
        hops = re.findall(r"^ *\d+ +([0-9.]+) ", said, re.MULTILINE)
        require(len(hops) >= 3, f"traceroute saw {hops}: {said.strip()[-200:]}")
        ways.add(hops[1])
    require(len(ways) >= 2, f"eight flows took the way over {ways}")
    return f"eight flows are seen to take {len(ways)} ways"


def _load_balancing(network: Network, described: Described) -> str:
    everybody_reaches_everybody(network)
    if "line" in described.file:
        return "all reach each other; probes are seen on the way"
    before = {device: sent_by(device) for device in _between(network, "s1")}
    script = "send_traffic_simple.py" if "simple" in described.file else "send_traffic.py"
    network.start(["python3", script, "80"], "traffic.log")

    def used() -> int:
        return sum(sent_by(device) - earlier > 100 for device, earlier in before.items())

    # Flows that share a path are moved by chance, until they find one of their own.
    network.wait_for_answer(
        "h1 ping -c 5 10.0.0.1", lambda _said: used() >= 2, "all flows stayed on one path"
    )
    return f"the flows were seen on {used()} of {len(before)} paths"


def _packet_loss(network: Network, _described: Described) -> str:
    network.start(["python3", "-u", "packet-loss-controller.py", "--option", "run"], "told.log")
    network.wait_for_answer(
        "h1 ping -c 1 -W 1 h2", lambda said: " 0% packet loss" in said, "h2 does not answer"
    )
    # The controller has two seconds for the registers of a batch before they are used again: on a
    # busy machine it may come too late for the first packets.
    lost = 5
    sent: set[str] = set()

    def told(answer: str) -> bool:
        sent.clear()
        sent.update(_FLOW.findall(answer))
        return len(sent) == lost and sent <= set(_FLOW.findall(network.read("told.log")))

    # A batch ends with later packets.
    line = f"h1 python3 send.py --n-pkt 100 --n-drops {lost} --fail-hops 1; ping -c 120 -i 0.05 h2"
    network.wait_for_answer(line, told, "the lost packets were not reported")
    return f"all {lost} lost packets are named"


def _reroute(network: Network, _described: Described) -> str:
    network.run(["python3", "controller.py"], "exit\n")
    everybody_reaches_everybody(network)
    network.run(["python3", "controller.py"], "fail s1 s2\nexit\n")
    first = pings(network, "h2", "10.4.4.2", 3)
    require(first == 3, f"over the loop-free alternate {first} of 3 pings were answered")
    network.run(["python3", "controller.py"], "notify\nexit\n")
    later = pings(network, "h2", "10.4.4.2", 3)
    require(later == 3, f"after the controller was notified, {later} of 3 pings were answered")
    return "pings pass at once after a failure, and once the controller knows"


def _mpls(network: Network, _described: Described) -> str:
    return everybody_reaches_everybody(network)


EXERCISES: dict[str, Check] = {
    "exercises/01-Reflector": EXAMPLES["examples/reflector"],
    "exercises/02-Repeater/p4runtime": _repeater,
    "exercises/02-Repeater/thrift": _repeater,
    "exercises/03-L2_Basic_forwarding/p4runtime": everybody_reaches_everybody,
    "exercises/03-L2_Basic_forwarding/thrift": everybody_reaches_everybody,
    "exercises/03-L2_Flooding/p4runtime": _flooding,
    "exercises/03-L2_Flooding/thrift": _flooding,
    "exercises/04-L2_Learning/p4runtime": _learning,
    "exercises/04-L2_Learning/thrift": _learning,
    "exercises/04-MPLS/p4runtime/mpls_basics": _mpls,
    "exercises/04-MPLS/p4runtime/mpls_stacked": _mpls,
    "exercises/04-MPLS/thrift/mpls_basics": _mpls,
    "exercises/04-MPLS/thrift/mpls_stacked": _mpls,
    "exercises/04-RSVP/p4runtime": _rsvp,
    "exercises/04-RSVP/thrift": _rsvp,
    "exercises/05-ECMP": _routed_ecmp,
    "exercises/05-Flowlet_Switching": EXAMPLES["examples/flowlet_switching"],
    "exercises/06-Heavy_Hitter_Detector": EXAMPLES["examples/heavy_hitter"],
    "exercises/07-Count-Min-Sketch": _sketch,
    "exercises/08-Simple_Routing/p4runtime": _routing,
    "exercises/08-Simple_Routing/thrift": _routing,
    "exercises/09-Traceroutable": _traceroute,
    "exercises/10-Congestion_Aware_Load_Balancing": _load_balancing,
    "exercises/11-Packet-Loss-Detection": _packet_loss,
    "exercises/12-Fast-Reroute": _reroute,
}
