"""Requests that several networks share."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.conformance.isolated.outcome import CheckError, require
from tests.conformance.isolated.prompt import Network

from .networks import Described


def everybody_reaches_everybody(network: Network, _described: Described | None = None) -> str:
    """`pingall` loses nothing, once controllers that p4-utils has started have done their work."""
    said: list[str] = []

    def loses_nothing(answer: str) -> bool:
        said.extend(re.findall(r"Results: (\d+% dropped \(\d+/\d+ received\))", answer))
        return said[-1:] != [] and said[-1].startswith("0%")

    network.wait_for_answer("pingall", loses_nothing, "pingall kept losing packets")
    return said[-1]


def pings(network: Network, host: str, address: str, count: int = 2) -> int:
    """How many of `count` pings were answered."""
    answer = network.ask(f"{host} ping -c {count} -i 0.2 -W 1 {address}")
    found = re.search(r"(\d+) received", answer)
    require(found is not None, f"ping printed no result: {answer.strip()[-200:]}")
    assert found is not None
    return int(found[1])


def listen(network: Network, host: str, script: str = "receive.py") -> str:
    """Starts a receiver in a host; returns the file that it writes to, once it listens."""
    log = f"{host}.log"
    network.ask(f"{host} python3 -u {script} > {log} 2>&1 &")
    network.wait_for_answer(
        f"{host} cat /proc/net/packet",
        lambda listed: len(listed.strip().splitlines()) > 1,
        f"the receiver in {host} never opened its socket",
    )
    return log


def sent_by(device: str) -> int:
    """Packets that left through a device of a switch."""
    return int(Path(f"/sys/class/net/{device}/statistics/tx_packets").read_text())


def paths_taken(network: Network, command: str, devices: list[str]) -> list[int]:
    """Types a line and says how many packets each of the devices sent meanwhile."""
    before = [sent_by(device) for device in devices]
    network.ask(command)
    return [sent_by(device) - earlier for device, earlier in zip(devices, before, strict=True)]


def cli(network: Network, *lines: str, port: int = 9090) -> str:
    """The answers of `simple_switch_CLI` to lines."""
    typed = "".join(f"{line}\n" for line in lines)
    return network.run(["simple_switch_CLI", "--thrift-port", str(port)], typed)


def tcp(network: Network, client: str, server: str, address: str, seconds: int = 3) -> str | None:
    """A TCP flow: its rate as iperf says it, or `None` if there was no connection."""
    network.ask(f"{server} iperf -s -p 5201 > {server}-iperf.log 2>&1 &")
    network.wait_for(f"{server}-iperf.log", "Server listening")
    answer = network.ask(f"{client} timeout {seconds + 10} iperf -c {address} -p 5201 -t {seconds}")
    rates = re.findall(r"[0-9.]+ [KMG]?bits/sec", answer)
    return rates[-1].replace("bits/sec", "b/s") if rates else None


class Capture:
    """Output of tcpdump at a device while a block runs."""

    def __init__(self, network: Network, device: str, *arguments: str) -> None:
        """Nothing is started yet."""
        self._network = network
        self._log = f"{device}.dump"
        self._command = ["tcpdump", "-l", "-n", "-i", device, *arguments]

    def __enter__(self) -> Capture:
        self._child = self._network.start(self._command, self._log)
        self._network.wait_for(self._log, "listening on")
        return self

    def __exit__(self, *_what: object) -> None:
        self._child.terminate()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()

    @property
    def text(self) -> str:
        """Everything up to now."""
        return self._network.read(self._log)


def number(text: str, pattern: str) -> int:
    """The last number that a pattern finds."""
    found = re.findall(pattern, text)
    if not found:
        raise CheckError(f"nothing in it looks like {pattern}: {text.strip()[-200:]}")
    return int(found[-1], 0)
