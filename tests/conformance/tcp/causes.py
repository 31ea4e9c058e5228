"""What is known of cells that are not met: by experiment, or by what their live runs have left."""

from __future__ import annotations

from tests.conformance.tcp.archive import Curve, Measured
from tests.conformance.tcp.cells import Cell

# More than a router process on two cores that others use carries without being late.
_FAST_BPS = 50_000_000
# For so long a queue of a hundred packets at 10 Mb/s is emptied.
_FELT_S = 0.12
# A window that shrinks by so much has met a loss; two dots of a curve may be one recovery.
_REDUCED = 0.75

_PAUSES = "the machine: pauses, which were other than those assumed here; "
# What `lateness.py` and runs with twelve seeds have shown.
_SHOWN = {
    "reno-10mbps-50ms-0.5bdp": _PAUSES
    + "with one of up to 40 ms every second, or every other one, 86 to 90 % are used",
    "reno-20mbps-20ms-0.1bdp": _PAUSES
    + "with 83 short ones and 8 of up to 10 ms a second, 36 % are used and 128 packets dropped",
    "cubic-20mbps-20ms-0.1bdp": _PAUSES
    + "with 17 short ones and 8 of up to 10 ms a second, 43 % are used and 152 packets dropped",
    "cubic-10mbps-20ms-0.25bdp": _PAUSES + "with 4 of up to 10 ms a second, 79 to 81 % are used",
    "reno-20mbps-20ms-0.5bdp-2flows": _PAUSES
    + "with 8 or 16 of up to 10 ms a second and no shorter ones it agrees",
    "cubic-10mbps-20ms-4bdp-codel": _PAUSES + "with 4 of up to 10 ms a second it agrees",
    "cubic-10mbps-20ms-4bdp-codel-ecn": _PAUSES
    + "with 2 of up to 10 ms a second, or with 4 and 8 short ones, it agrees",
    "cubic-10mbps-50ms-0.5bdp": "one of the two live runs: their queues are 11.0 and 13.9 packets, "
    "and the second is as here",
    "cubic-10mbps-20ms-2bdp-10flows": "chance: with twelve seeds it agrees",
    "bbr-10mbps-20ms-2bdp-10flows": "chance: with twelve seeds it agrees",
    "bbr-20mbps-20ms-2bdp-loss0.1%": "the router's dice: with twelve seeds it agrees",
    "bbr-10mbps-20ms-2bdp-loss1%": "the machine, which was less late: with hosts that never are, "
    "the queue is 19.0 and it agrees",
}


def of(cell: Cell, live: Measured) -> str:
    """Why it is not met, as far as that was found out; empty where it was not."""
    if cell.name in _SHOWN:
        return _SHOWN[cell.name]
    if cell.rate_bps > _FAST_BPS:
        return (
            "few live runs, and the machine held the router up in them (`held_up_s`): to be "
            "measured again on a calm machine"
        )
    if cell.loss_ppm and cell.congestion != "bbr":
        return (
            "the router's dice: the live runs threw the same ones, and of 20 seeds in virtual time "
            "some lose as many packets and give the same figures (see below)"
        )
    losses = [peak for curve in live.curves for peak in _peaks(cell, curve)]
    early = sum(peak < cell.bdp_packets for peak in losses)
    if early and cell.flows == 1 and cell.aqm == "off" and cell.congestion != "bbr":
        return (
            f"the machine of the live runs: {early} of {len(losses)} losses came with fewer "
            f"packets under way than the path of {cell.bdp_packets:.0f} holds, where nothing "
            "queues, so what was lost had come in a clump"
        )
    held_up_s = max(run.held_up_s[0] for run in live.runs)
    if held_up_s > _FELT_S:
        return f"in one of the live runs the machine held the router up for {held_up_s:.2f} s"
    return ""


def _peaks(cell: Cell, curve: Curve) -> list[int]:
    """The windows at which losses came, from where the measurement begins."""
    found, peak = [], 0
    for time_s, cwnd in zip(curve.time_s, curve.cwnd, strict=True):
        if time_s >= cell.settle_s and cwnd < peak * _REDUCED:
            found.append(peak)
            peak = cwnd
        else:
            peak = max(peak, cwnd) if time_s >= cell.settle_s else cwnd
    return found
