"""Known causes of mismatched cells: from experiments, or from the data of their live runs."""

from __future__ import annotations

from tests.conformance.tcp.cells import Cell

_DICE = "chance: with twelve seeds it agrees"
_LATE = "send delay: with up to 0, 100, 200 and 400 us the queue is {} packets, in Linux {}"
# Findings of `lateness.py`, of runs with twelve seeds, and of single live runs.
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
    "bbr-10mbps-20ms-0.25bdp": _LATE.format("2.4, 2.4, 2.6, 2.6", 2.64)
    + ", and 835, 748, 798, 883 are dropped for 940",
    "bbr-20mbps-20ms-0.1bdp": _LATE.format("0.72, 1.08, 1.10, 1.31", 0.84),
    "bbr-20mbps-20ms-2bdp-loss0.1%": _LATE.format("7.5, 7.8, 8.3, 15", 8.8),
    "cubic-50mbps-30ms-0.7bdp": "send buffers: where they end, Linux sends single segments",
    "bbr-10mbps-20ms-2bdp-10flows": "send delay: with up to 0, 100, 200 and 400 us, 4569, "
    "4492, 4366 and 4287 are dropped, in Linux 4193",
}


def of(cell: Cell) -> str:
    """Why it is not met, as far as that was found out; empty where it was not."""
    return _SHOWN.get(cell.name, "")
