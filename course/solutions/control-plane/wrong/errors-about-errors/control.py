"""Errors are sent about whatever comes."""

from ipaddress import IPv4Address

import reference


class Control(reference.Control):
    def error(self, number, frame, kind, code):
        packet = frame[14:]
        source = IPv4Address(packet[12:16])
        quote = bytes(4) + packet[:28]
        self.icmp(number, frame[6:12], self.ports[number].address, source, kind, code, quote)
