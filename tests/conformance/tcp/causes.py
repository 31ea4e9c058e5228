"""What is known of cells that are not met."""

from __future__ import annotations

from tests.conformance.tcp.cells import Cell

# A queue of so many packets is filled by two acknowledgements that the sender gets at once.
_TINY_PACKETS = 5
# More than a router process on two cores that others use carries without being late.
_FAST_BPS = 50_000_000


def of(cell: Cell) -> str:
    """Why it is not met, as far as that was found out; empty where it was not."""
    if cell.rate_bps > _FAST_BPS:
        return (
            "few live runs, and the machine held the router up in them (`held_up_s`): to be "
            "measured again on a calm machine"
        )
    if cell.queue_packets <= _TINY_PACKETS:
        return (
            "the machine of the live runs: a millisecond late, it hands over two acknowledgements "
            f"at once, and what they release does not fit into {cell.queue_packets} packets"
        )
    if cell.rtt_ms <= 2:
        return (
            "the machine of the live runs: its lateness is a good part of a round trip of "
            f"{cell.rtt_ms:g} ms, and BBR takes clumps of acknowledgements for a faster path"
        )
    return ""
