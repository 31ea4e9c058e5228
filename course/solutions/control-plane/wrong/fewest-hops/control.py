"""Ways with the fewest routers, whatever they cost."""

import reference


class Control(reference.Control):
    def shortest(self):
        adverts, ports = self.adverts, self.ports
        self.adverts = {
            name: reference.Advert(
                each.origin, each.sequence, tuple((to, 1) for to, _ in each.links), each.networks
            )
            for name, each in adverts.items()
        }
        self.ports = {number: Cheap(port) for number, port in ports.items()}
        found = super().shortest()
        self.adverts, self.ports = adverts, ports
        return found


class Cheap:
    cost = 1

    def __init__(self, port):
        self.port = port
