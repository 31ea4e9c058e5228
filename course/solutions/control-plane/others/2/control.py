"""A router that says hello twice as often, tells of itself every second, and finds ways otherwise.

It relaxes every link until nothing changes (Bellman and Ford), as RIP does with what it is told.
"""

from ipaddress import IPv4Address

import reference

TELL_S = 1.0


class Control(reference.Control):
    def __init__(self, switch, router, ports, static):
        self.told_s = 0.0
        super().__init__(switch, router, ports, static)

    def tick(self, now):
        self.hello_s = min(self.hello_s, now - reference.HELLO_S)
        super().tick(now)
        if now - self.told_s >= TELL_S:
            self.told_s = now
            self.originate()

    def shortest(self):
        far, toward = {self.router: 0}, {self.router: None}
        for number, found in self.heard.items():
            cost = self.ports[number].cost
            if self.has_link(found[0], self.router) and cost < far.get(found[0], 1 << 30):
                far[found[0]], toward[found[0]] = cost, number
        changed = True
        while changed:
            changed = False
            for node, advert in self.adverts.items():
                for neighbour, cost in advert.links:
                    is_way = node in far and node != self.router and self.has_link(neighbour, node)
                    if is_way and far[node] + cost < far.get(neighbour, 1 << 30):
                        far[neighbour], toward[neighbour] = far[node] + cost, toward[node]
                        changed = True
        assert all(isinstance(each, IPv4Address) for each in far)
        return far, toward
