"""The destination's MAC address is asked for, also behind a static route."""

from ipaddress import IPv4Address

import frames
import reference


class Control(reference.Control):
    def hold(self, now, hop, port_in, frame):
        target = IPv4Address(frame[30:34])
        port = next(each for each in self.ports.values() if hop in each.network)
        if target in port.network:
            super().hold(now, hop, port_in, frame)
            return
        if target not in self.held:
            self.send_arp(port, 1, frames.BROADCAST, bytes(6), target)
        self.held.setdefault(target, []).append((now, port_in, frame))
