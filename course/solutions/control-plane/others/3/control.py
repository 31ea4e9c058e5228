"""A router that tells everything in another order, and all of it again with every tenth hello."""

import reference


class Control(reference.Control):
    def __init__(self, switch, router, ports, static):
        self.ticks = 0
        super().__init__(switch, router, ports, static)

    def tick(self, now):
        super().tick(now)
        self.ticks += 1
        if self.ticks % 40 == 0:
            for advert in reversed(list(self.adverts.values())):
                for port in self.routing_ports():
                    self.tell(port, advert)
