"""A TCP flow by iperf3: the command lines, and what its JSON says."""

from __future__ import annotations

import json

from labs.measure.iperf import Result
from topo.errors import ProcessError


def server(port: int) -> list[str]:
    """Serves one flow on `port` and ends."""
    return ["iperf3", "-s", "-1", "-p", str(port)]


def client(
    address: str, port: int, *, seconds: int, congestion: str, pacing_bps: int | None = None
) -> list[str]:
    """Sends for `seconds` and prints JSON; TCP spaces its packets to a rate if one is given."""
    flow = ["-t", str(seconds), "-C", congestion]
    if pacing_bps is not None:
        flow += ["--fq-rate", str(pacing_bps)]
    return ["iperf3", "-c", address, "-p", str(port), "--json", *flow]


def parse(output: str) -> Result:
    """The JSON of a client."""
    try:
        document = json.loads(output)
    except ValueError as error:
        raise ProcessError(f"iperf3 printed no JSON: {output.strip()[:200]!r}.") from error
    if "error" in document:
        raise ProcessError(f"iperf3 gave up: {document['error']}.")
    try:
        end = document["end"]
        return Result(
            received_bps=end["sum_received"]["bits_per_second"],
            received_bytes=end["sum_received"]["bytes"],
            retransmits=end["sum_sent"]["retransmits"],
        )
    except KeyError as error:
        raise ProcessError(f"iperf3's JSON has no {error} at its end.") from error
