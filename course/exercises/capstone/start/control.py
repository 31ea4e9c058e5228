"""Your control plane, as in the exercise control-plane; begin with what you have from there.

The entries are those of your own router.p4: nobody else writes any, and a table's default action
is yours to choose in P4. A key with `lpm` is given a network, one with `exact` a number.
"""


class Control:
    """One router's. What it remembers is its own: each router has a process for itself."""

    def __init__(self, switch, router, ports, static):
        self.switch = switch

    def packet_in(self, now, port, reason, frame):
        """A packet came by this port, for a reason of your program."""

    def tick(self, now):
        """Every 50 ms."""
