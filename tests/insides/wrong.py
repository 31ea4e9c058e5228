"""Classes that do what they must not, one thing each."""

import os
import signal

from insides import DROP, MARK, Aqm, Arbiter, CongestionControl, Scheduler


class TwiceTheOutput(Arbiter):
    def match(self, asks, now):
        output = next(number for number, inputs in enumerate(asks) if len(inputs) > 1)
        return [(asks[output][0], output), (asks[output][1], output)]


class Unasked(Arbiter):
    def match(self, asks, now):
        output = next(number for number, inputs in enumerate(asks) if not inputs)
        return [(0, output)]


class NoPairs(Arbiter):
    def match(self, asks, now):
        return [1, 2]


class Raises(Arbiter):
    def match(self, asks, now):
        raise KeyError("the ninth port")


class NeverEnds(Arbiter):
    def match(self, asks, now):
        while True:
            pass


class Leaves(Arbiter):
    def match(self, asks, now):
        os._exit(0)


class LeavesAChild(Arbiter):
    def match(self, asks, now):
        if os.fork() == 0:
            os.setsid()
        # Nobody ends the child, so it ends by itself.
        signal.alarm(20)
        signal.pause()


class Talks(Arbiter):
    def match(self, asks, now):
        print('{"run": "fabric", "throughput": 1.0}')
        return []


class Quiet(Arbiter):
    def match(self, asks, now):
        return []


class Empty(Scheduler):
    def choose(self, heads, now):
        return next(each for each in (0, 1, 2, 3) if each not in heads)


class Lowest(Scheduler):
    def choose(self, heads, now):
        return min(heads)


class MarksEverything(Aqm):
    def arrival(self, packet, now):
        return MARK


class DropsEverything(Aqm):
    def departure(self, packet, waited, now):
        return DROP


class Half(CongestionControl):
    """Does nothing wrong; those below do one thing each."""

    def grow(self, window, path, acked):
        window.slow_start(acked)

    def lost(self, window, path):
        return max(window.cwnd // 2, 2)


class WindowOfNothing(Half):
    def grow(self, window, path, acked):
        window.cwnd = 0 if path.now > 10**11 else window.cwnd + acked


class HalfAPacket(Half):
    def grow(self, window, path, acked):
        window.cwnd += acked / 2


class ForgetsToAnswer(Half):
    def lost(self, window, path):
        self.seen = window.cwnd


class Stumbles(Half):
    def measured(self, window, path, rtt_us):
        raise ZeroDivisionError("a round trip of nothing")


class NeverDecides(Half):
    def grow(self, window, path, acked):
        while True:
            pass


class DoesNotGrow(CongestionControl):
    def lost(self, window, path):
        return 2


class KeepsAllAfterALoss(Half):
    def lost(self, window, path):
        return window.cwnd
