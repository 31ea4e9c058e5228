"""Every ARP request is answered, whoever is meant."""

from ipaddress import IPv4Address

import reference


class Control(reference.Control):
    def arp(self, now, number, packet):
        port, sender = self.ports[number], IPv4Address(packet[14:18])
        self.learn(sender, number, packet[8:14])
        if packet[6:8] == b"\x00\x01":
            self.send_arp(port, 2, packet[8:14], packet[8:14], sender)
