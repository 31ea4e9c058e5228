"""The examples: what their READMEs say one sees."""

from __future__ import annotations

import re

from tests.conformance.isolated.outcome import require
from tests.conformance.isolated.prompt import Network

from .asking import (
    Capture,
    cli,
    everybody_reaches_everybody,
    listen,
    number,
    paths_taken,
    pings,
    sent_by,
    tcp,
)
from .networks import Check, Described

_UPLINKS = [f"s1-eth{port}" for port in (2, 3, 4, 5)]


def _copy_to_cpu(network: Network, _described: Described) -> str:
    network.start(["python3", "-u", "receive.py"], "cpu.log")
    network.wait_for("cpu.log", "sniffing on")
    network.wait_for_answer(
        "sh cat /proc/net/packet",
        lambda listed: len(listed.strip().splitlines()) > 2,
        "the receiver never opened its socket",
    )
    network.ask("h1 python3 send.py 10.1.2.2")
    text = network.wait_for("cpu.log", "CpuPacket")
    return f"a copy with its own header came, reason {number(text, r'reason *= *([0-9]+)')}"


def _counter(network: Network, described: Described) -> str:
    kind = "indirect" if "indirect" in described.file else "direct"
    name = "port_counter" if kind == "indirect" else "direct_port_counter"
    require(pings(network, "h1", "10.0.0.2") == 0, "the program drops everything, but pings passed")
    index = 1 if kind == "indirect" else 0
    said = cli(network, f"counter_read MyIngress.{name} {index}")
    count = number(said, r"(\d+) packets")
    require(count > 0, f"the counter of port 1 reads {count} packets")
    again = network.run(["python3", "read_counters.py", kind])
    seen = number(again, rf"{name}\[{index}\]= .*?(\d+) packets")
    require(seen >= count, f"p4-utils reads {seen}, the command line {count}")
    return f"{count} packets counted, read by simple_switch_CLI and by p4-utils"


def _debugging_table(network: Network, _described: Described) -> str:
    pings(network, "h1", "10.0.1.2")
    text = network.wait_for("log/p4s.s1.log", "standard_metadata.ingress_port")
    require("parser_error_as_int" in text, "the log does not show all keys of the table")
    return "the log shows the keys of the table"


def _digest(network: Network, _described: Described) -> str:
    network.start(["python3", "-u", "get_digest.py"], "digest.log")
    network.wait_for("digest.log", "connecting to")

    def came(_answer: str) -> bool:
        return "random number" in network.read("digest.log")

    network.wait_for_answer("h1 ping -c 1 -W 1 h2", came, "no digest came")
    return "digests came through libnanomsg"


def _ecmp(network: Network, _described: Described) -> str:
    everybody_reaches_everybody(network)
    taken = paths_taken(network, "h1 python3 send.py 10.0.6.2 200", _UPLINKS)
    require(min(taken) > 20, f"200 flows took the four paths so: {taken}")
    return f"200 flows over four paths: {taken}"


def _ecn(network: Network, _described: Described) -> str:
    with Capture(network, "s1-eth3", "-Q", "out", "-v") as capture:
        network.ask("task h3 0 0 recv_udp_flow --dport 5051")
        network.ask(
            "task h1 0 5 send_udp_flow --dst 10.1.3.2 --sport 5000 --dport 5051 --tos 1 --rate 10M"
        )
        network.wait_until("s1-eth3.dump", lambda text: "tos 0x3" in text, "no packet was marked")
    marked, whole = capture.text.count("tos 0x3"), capture.text.count("tos 0x1")
    require(whole > 0, "all packets were marked, those of an empty queue too")
    return f"{marked} packets marked, {whole} not"


def _flowlets(network: Network, _described: Described) -> str:
    everybody_reaches_everybody(network)
    far = paths_taken(network, "h1 python3 send.py 10.0.6.2 40 0.2", _UPLINKS)
    require(sum(count > 0 for count in far) >= 3, f"40 flowlets took the four paths so: {far}")
    return f"40 flowlets over four paths: {far}"


def _heavy_hitter(network: Network, _described: Described) -> str:
    require(pings(network, "h1", "10.0.2.2") == 2, "h1 does not reach h2")
    log = listen(network, "h2")
    network.ask("h1 python3 send.py 10.0.2.2 1500 > h1.log")
    text = network.wait_for(log, "total: 1000")
    total = number(text, r"total: (\d+)")
    require(total <= 1001, f"{total} of 1500 packets passed")
    return f"{total} of 1500 packets passed"


def _learning(network: Network, described: Described) -> str:
    if "multi" not in described.file:
        how = "cpu" if "cpu" in described.file else "digest"
        network.start(["python3", "-u", "l2_learning_controller.py", "s1", how], "controller.log")
        if how == "cpu":
            network.wait_for_answer(
                "sh cat /proc/net/packet",
                lambda listed: len(listed.strip().splitlines()) > 2,
                "the controller never opened its socket",
            )
    # The first ones teach.
    network.wait_for_answer(
        "pingall", lambda said: " 0% dropped" in said, "pingall kept losing packets"
    )
    learnt = cli(network, "table_dump dmac").count("forward")
    require(learnt >= 4, f"the table has {learnt} addresses")
    return f"{learnt} addresses learnt"


def _meter(network: Network, _described: Described) -> str:
    seen = {}
    for gap in (1, 2):
        log = f"every-{gap}-s.log"
        script = network.start(["python3", "-u", "send_and_receive.py", str(gap)], log)
        network.wait_until(log, lambda text: text.count("Sent one") > 8, "too few were sent")
        script.kill()
        said = network.read(log)
        seen[gap] = (said.count("Received one"), said.count("Sent one"))
    came, sent = seen[1]
    require(
        0.3 <= came / sent <= 0.75,
        f"of one packet a second half should pass: {came} of {sent} did",
    )
    came, sent = seen[2]
    require(came >= sent - 1, f"of one packet every two seconds all should pass: {came} of {sent}")
    return f"{seen[1][0]} of {seen[1][1]} a second apart passed, {came} of {sent} two apart"


def _multicast(network: Network, _described: Described) -> str:
    ports = [f"s1-eth{port}" for port in (1, 2, 3, 4)]
    before = [sent_by(port) for port in ports]
    network.ask("h1 python3 send.py &")

    def sent() -> list[int]:
        return [sent_by(port) - earlier for port, earlier in zip(ports, before, strict=True)]

    network.wait_for_answer("sh true", lambda _answer: min(sent()) >= 2, "some ports sent nothing")
    return f"the four ports sent {sent()}"


def _multiqueueing(network: Network, _described: Described) -> str:
    for port in (5000, 5001):
        network.ask(f"h3 iperf -s -p {port} -u -i 1 > {port}.log 2>&1 &")
        network.wait_for(f"{port}.log", "Server listening")
    network.ask("h1 iperf -c 10.0.1.3 -t 9 -p 5000 -u -b 20M > h1.log 2>&1 &")
    network.ask("h2 iperf -c 10.0.1.3 -t 4 -p 5001 -u -b 20M")
    # The line of each second: what was carried in it.
    second = re.compile(r"(\d+\.\d+)-\s*(\d+\.\d+) sec +([0-9.]+) (K?M?)Bytes")

    def carried(name: str) -> list[float]:
        scale = {"": 1e-6, "K": 1e-3, "M": 1.0}
        return [float(found[3]) * scale[found[4]] for found in second.finditer(network.read(name))]

    network.wait_until(
        "5000.log", lambda text: len(second.findall(text)) >= 8, "h3 heard too little"
    )
    low, high = carried("5000.log")[:8], carried("5001.log")[:4]
    require(min(low) < 0.1 * max(low), f"h1 was never held up: {low} MB in each second")
    require(max(high) > 0.3, f"h2 got no more than {max(high)} MB in a second")
    return f"h2 carried {max(high):.2f} MB a second, h1 meanwhile {min(low):.2f}"


def _registers(network: Network, _described: Described) -> str:
    network.ask("h1 python3 send.py 10.0.1.2 50")
    said = cli(
        network,
        *("register_read MyIngress.tos_register 50", "register_write tos_register 0 10"),
        *("register_read tos_register 0", "register_read tos_register"),
    )
    require(re.search(r"tos_register\[50\]= ?50", said) is not None, f"cell 50: {said[-300:]}")
    require(re.search(r"tos_register\[0\]= ?10", said) is not None, f"cell 0: {said[-300:]}")
    return "cells written by packets and by hand are read"


def _recirculate(network: Network, _described: Described) -> str:
    network.ask("h1 ping -c 1 -W 1 10.0.0.2")
    text = network.wait_for("log/p4s.s1.log", "meta.counter")
    seen = {int(digits, 16) for digits in re.findall(r"\* meta\.counter *: ([0-9a-f]+)", text)}
    require(seen >= set(range(6)), f"the table saw the counter at {sorted(seen)}")
    return f"the counter went through {sorted(seen)}"


def _recirculate_and_add(network: Network, _described: Described) -> str:
    network.run(["python3", "fill_register.py"])
    with Capture(network, "s1-eth2", "-Q", "out", "-e") as capture:
        lengths: list[int] = []
        for rounds in (1, 20):
            seen = len(re.findall(r"length (\d+)", capture.text))
            network.ask(f"h1 python3 send_carrier.py {rounds}")
            text = network.wait_until(
                "s1-eth2.dump",
                lambda text, seen=seen: len(re.findall(r"0x1234.*length", text)) > len(lengths),  # type: ignore[misc]
                "nothing left port 2",
            )
            lengths.append(number(text, r"0x1234.*?length (\d+)"))
    require(lengths[1] > lengths[0], f"frames after 1 and 20 rounds have {lengths} bytes")
    return f"frames after 1 and 20 rounds have {lengths[0]} and {lengths[1]} bytes"


def _reflector(network: Network, _described: Described) -> str:
    said = network.ask("h1 printf '\\n' | python3 send_receive.py")
    require("was reflected" in said, f"nothing came back: {said.strip()[-200:]}")
    return "a packet came back"


def _repeater(network: Network, _described: Described) -> str:
    log = listen(network, "h2")
    network.ask('h1 python3 send.py 10.0.0.2 "hi h2"')
    network.wait_for(log, "hi h2")
    return "a message came"


def _again(network: Network, described: Described) -> str:
    resubmit = "resubmit" in described.file
    network.ask("h1 python3 send.py 10.0.1.2 200")
    name = "MyIngress.resubmit_register" if resubmit else "MyEgress.recirculate_register"
    said = cli(network, f"register_read {name}")
    cells = [int(cell) for cell in re.findall(r"\d+", said.split(f"{name}=")[-1])][:200]
    wanted = [255] * 200 if resubmit else list(range(255, 55, -1))
    require(cells == wanted, f"the register reads {cells[:5]} .. {cells[-5:]}")
    return f"200 rounds: the register reads {cells[0]} .. {cells[-1]}"


def _convergence(network: Network, described: Described) -> str:
    which = "one_table" if "one" in described.file else "two_tables"
    everybody_reaches_everybody(network)
    network.ask("link s1 s2 down")
    require(pings(network, "h1", "10.0.2.2") == 0, "h2 answers although the link is down")
    said = network.run(["python3", f"controller_{which}.py", "reroute", "50000"], deadline_s=400.0)
    for address in ("10.0.2.2", "10.250.250.2"):
        require(pings(network, "h1", address) == 2, f"{address} does not answer over the other way")
    seconds = re.search(r"took ([0-9.]+)", said)
    return f"rerouted in {float(seconds[1]):.3g} s" if seconds else "rerouted"


def _simple_int(network: Network, _described: Described) -> str:
    log = listen(network, "h2")
    network.ask('h1 python3 send.py 10.0.2.2 "test" 1')
    text = network.wait_for(log, "INT")
    switches = [int(found) for found in re.findall(r"swid *= *(\d+)", text)]
    require(len(switches) >= 2, f"the packet names switches {switches}")
    return f"the packet names switches {switches}"


def _source_routing(network: Network, _described: Described) -> str:
    log = listen(network, "h2")
    network.ask("h1 printf '2 4\\n3 4\\n2 4 3 1 2 4\\nq\\n' | python3 send.py 10.0.4.2")
    network.wait_until(
        log, lambda text: text.count("got a packet") >= 3, "h2 did not receive all three packets"
    )
    return "packets take the listed ways"


def _firewall(network: Network, _described: Described) -> str:
    rate = tcp(network, "h1", "h2", "10.0.2.2")
    require(rate is not None, "h1 cannot connect to h2")
    network.ask("h1 iperf -s -p 5202 > refused.log 2>&1 &")
    network.wait_for("refused.log", "Server listening")
    said = network.ask("h2 timeout 5 iperf -c 10.0.1.1 -p 5202 -t 1")
    require("bits/sec" not in said, "h2 can connect to h1")
    return f"h1 connects to h2 ({rate}), h2 not to h1"


def _checksum(network: Network, _described: Described) -> str:
    log = listen(network, "h2")
    network.ask("h1 python3 send.py 10.0.1.2 invalid")
    network.ask("h1 python3 send.py 10.0.1.2 valid")
    text = network.wait_for(log, "got a packet")
    require("chksum    = 0xa" not in text, "the packet with the wrong checksum came")
    return "the valid packet came, the other did not"


_BY_FOLDER: dict[str, Check] = {
    "copy_to_cpu": _copy_to_cpu,
    "counter": _counter,
    "debugging_table": _debugging_table,
    "digest_messages": _digest,
    "ecmp": _ecmp,
    "ecn": _ecn,
    "flowlet_switching": _flowlets,
    "heavy_hitter": _heavy_hitter,
    "ip_forwarding": everybody_reaches_everybody,
    "ip_forwarding_two_tables": everybody_reaches_everybody,
    "l2_learning": _learning,
    "meter": _meter,
    "multicast": _multicast,
    "multiqueueing": _multiqueueing,
    "read_write_registers_cli": _registers,
    "recirculate": _recirculate,
    "recirculate_and_add_header": _recirculate_and_add,
    "reflector": _reflector,
    "repeater": _repeater,
    "resubmit_recirculate": _again,
    "simple_fast_convergence": _convergence,
    "simple_int": _simple_int,
    "source_routing": _source_routing,
    "stateful_firewall": _firewall,
    "ternary_match": everybody_reaches_everybody,
    "verify_checksum": _checksum,
}
EXAMPLES = {f"examples/{name}": check for name, check in _BY_FOLDER.items()}
