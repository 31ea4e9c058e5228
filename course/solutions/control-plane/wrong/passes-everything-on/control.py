"""Adverts that are known already are passed on, too."""

import reference


class Control(reference.Control):
    def message(self, now, number, source, mac, message):
        known = isinstance(message, reference.Advert) and message.origin in self.adverts
        super().message(now, number, source, mac, message)
        if known and message.origin != self.router:
            for port in self.routing_ports():
                if port != number:
                    self.tell(port, message)
