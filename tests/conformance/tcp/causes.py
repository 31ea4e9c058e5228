"""What is known of cells that are not met: by experiment, or by what their live runs have left."""

from __future__ import annotations

from tests.conformance.tcp.cells import Cell

_PROBES = (
    "not found yet; each of BBR's probes loses 11.6 packets over 26 ms here and 9.9 over 22 ms in "
    "Linux, as if losses were noticed 4 ms later"
)
_DICE = "the dice: with twelve seeds it agrees"
# What `lateness.py`, runs with twelve seeds and the live runs one by one have shown.
_SHOWN = {
    "reno-20mbps-20ms-0.1bdp": "the machine: in live runs in which it held the router up for 13, "
    "27 and 53 ms in lags of more than 1 ms, 76.9, 74.9 and 73.6 % were used",
    "cubic-20mbps-20ms-0.1bdp": "the machine: in live runs in which it held the router up for 7, "
    "26 and 43 ms in lags of more than 1 ms, 87.6, 85.1 and 79.8 % were used (the first is not "
    "kept)",
    "reno-10mbps-20ms-2bdp-loss1%": _DICE,
    "reno-20mbps-20ms-2bdp-loss0.1%": _DICE,
    "cubic-10mbps-20ms-2bdp-loss1%": _DICE,
    "bbr-20mbps-50ms-1bdp": "one live run, in which the machine held the router up for 0.22 s, has "
    "a queue of 10.4 packets; the others, with less, 8.6 and 8.0",
    "bbr-10mbps-20ms-0.25bdp": "not found yet; Linux loses single packets between its probes, too",
    "bbr-20mbps-20ms-0.1bdp": _PROBES,
    "bbr-20mbps-20ms-0.5bdp-2flows": "not found yet; perhaps as bbr-20mbps-20ms-0.1bdp",
    "bbr-20mbps-50ms-1bdp-10flows": "iperf3's flows connect a round trip apart and then send at "
    "once, ours send when they have connected (see above)",
}


def of(cell: Cell) -> str:
    """Why it is not met, as far as that was found out; empty where it was not."""
    return _SHOWN.get(cell.name, "")
