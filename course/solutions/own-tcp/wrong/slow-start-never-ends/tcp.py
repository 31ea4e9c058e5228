"""Wrong on purpose, see refused.yaml."""

from insides import CongestionControl


class MyTcp(CongestionControl):
    """Additive increase, multiplicative decrease."""

    def grow(self, window, path, acked):
        if path.cwnd_limited:
            window.cwnd += acked

    def lost(self, window, path):
        return max(window.cwnd // 2, 2)
