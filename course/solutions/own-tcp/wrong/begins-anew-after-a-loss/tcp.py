"""Wrong on purpose, see refused.yaml."""

from insides import CongestionControl


class MyTcp(CongestionControl):
    """Additive increase, multiplicative decrease."""

    def grow(self, window, path, acked):
        if not path.cwnd_limited:
            return
        if window.cwnd < window.ssthresh:
            grown = min(window.cwnd + acked, window.ssthresh)
            acked -= grown - window.cwnd
            window.cwnd = grown
        window.count += acked
        if window.count >= window.cwnd:
            window.count -= window.cwnd
            window.cwnd += 1

    def lost(self, window, path):
        return 2
