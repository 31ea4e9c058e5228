"""Your congestion control. As it is, ten packets are in flight, whatever the path takes."""

from insides import CongestionControl


class MyTcp(CongestionControl):
    """Additive increase, multiplicative decrease."""

    def grow(self, window, path, acked):
        """`acked` packets arrived, and nothing was lost: may more be in flight?"""
        # GAP 1: slow start below window.ssthresh, one packet more a round trip above it; and only
        # if the window is what keeps the sender from sending more.

    def lost(self, window, path):
        """Packets were lost or marked. Returns the threshold that window.cwnd comes down to."""
        # GAP 2: make room.
        return window.cwnd
