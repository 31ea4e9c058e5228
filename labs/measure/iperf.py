"""iperf3's results of a TCP flow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """iperf3's final result."""

    # The receiver's rate of payload over the whole flow.
    received_bps: float
    received_bytes: int
    # Segments that the sender's TCP sent again.
    retransmits: int
