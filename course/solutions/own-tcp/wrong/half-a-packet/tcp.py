"""Wrong on purpose, see refused.yaml."""

from insides import CongestionControl


class MyTcp(CongestionControl):
    """Additive increase, multiplicative decrease."""

    def grow(self, window, path, acked):
        if path.cwnd_limited:
            in_slow_start = window.cwnd < window.ssthresh
            window.cwnd += acked if in_slow_start else acked / window.cwnd

    def lost(self, window, path):
        return max(window.cwnd // 2, 2)
