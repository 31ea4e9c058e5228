"""A host's TCP data of a connection, as in `ss -ti`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SocketSample:
    """One connection at one instant, as its sender's kernel sees it. Missing values of ss are 0."""

    time_s: float
    local: str
    peer: str
    congestion: str
    mss_bytes: int
    cwnd_packets: int
    ssthresh_packets: int
    rtt_ms: float
    # Sent and not yet acknowledged, in segments.
    unacked_packets: int
    # Segments sent again since the connection began.
    retransmits: int
    bytes_acked: int
    # Segments that have arrived, those included that only a selective acknowledgement reports.
    delivered_packets: int
    delivery_rate_bps: float
    # The window that the receiver offers.
    receiver_window_bytes: int
    # How long the flow was held up by the receiver's window, and by the sender's own buffer.
    rwnd_limited_ms: int
    sndbuf_limited_ms: int

    @property
    def in_flight_bytes(self) -> int:
        """Payload that was sent and not yet acknowledged."""
        return self.unacked_packets * self.mss_bytes

    @property
    def connection(self) -> tuple[str, str]:
        """The identity of a connection in its host."""
        return self.local, self.peer
