"""The control plane of one router: ARP, ICMP, static routes, link-state routing."""

import heapq
import struct
from ipaddress import IPv4Address, IPv4Network

import frames
from frames import Advert, Hello

# Why a packet came here.
NEIGHBOUR, LOCAL, NO_ROUTE, TTL = 1, 2, 3, 4
TABLE, KEY = "ipv4_routes", "hdr.ipv4.dst_addr"

HELLO_S, DEAD_S = 0.2, 0.7
ARP_S, HELD_MAX = 1.0, 4


class Control:
    def __init__(self, switch, router, ports, static):
        self.switch = switch
        self.router = router
        self.ports = {port.number: port for port in ports}
        self.static = static
        self.own = {port.address: port for port in ports}
        # By address: port and MAC address; and packets that wait for it, since when.
        self.macs = {}
        self.held = {}
        self.asked_s = {}
        # What is in the table, by network.
        self.entries = {}
        # By port: who is there, its address, its MAC address, when it was last heard.
        self.heard = {}
        self.adverts = {}
        self.sequence = 0
        self.hello_s = -HELLO_S
        for address in self.own:
            switch.insert(TABLE, {KEY: IPv4Network(address)}, "deliver")
        self.originate()

    # ---- what happens ----------------------------------------------------------------------------

    def packet_in(self, now, port, reason, frame):
        ether_type, payload = int.from_bytes(frame[12:14], "big"), frame[14:]
        if ether_type == frames.ARP:
            self.arp(now, port, payload)
        elif ether_type == frames.IPV4:
            self.ipv4(now, port, reason, frame)

    def tick(self, now):
        if now - self.hello_s >= HELLO_S - 0.001:
            self.hello_s = now
            for port in self.routing_ports():
                self.tell(port, Hello(self.router))
        silent = [port for port, found in self.heard.items() if now - found[3] > DEAD_S]
        for port in silent:
            del self.heard[port]
        if silent:
            self.originate()
        for address, waiting in list(self.held.items()):
            if now - waiting[0][0] > ARP_S:
                del self.held[address]
                for _, port, packet in waiting:
                    self.error(port, packet, 3, 1)

    # ---- ARP -------------------------------------------------------------------------------------

    def arp(self, now, number, packet):
        operation = int.from_bytes(packet[6:8], "big")
        sender_mac, sender = packet[8:14], IPv4Address(packet[14:18])
        target = IPv4Address(packet[24:28])
        port = self.ports[number]
        if sender in port.network and sender not in self.own:
            self.learn(sender, number, sender_mac)
        if operation == 1 and target == port.address:
            self.send_arp(port, 2, sender_mac, sender_mac, sender)

    def send_arp(self, port, operation, frame_to, target_mac, target):
        packet = struct.pack("!HHBBH", 1, frames.IPV4, 6, 4, operation)
        packet += port.mac + port.address.packed + target_mac + target.packed
        self.switch.send(port.number, frames.ethernet(frame_to, port.mac, frames.ARP, packet))

    def learn(self, address, port, mac):
        self.macs[address] = (port, mac)
        self.program()
        for _, _, frame in self.held.pop(address, []):
            self.switch.send(port, mac + self.ports[port].mac + frame[12:])

    def hold(self, now, hop, port_in, frame):
        port = next(each for each in self.ports.values() if hop in each.network)
        waiting = self.held.setdefault(hop, [])
        if len(waiting) < HELD_MAX:
            waiting.append((now, port_in, frame))
        if now - self.asked_s.get(hop, -ARP_S) >= ARP_S:
            self.asked_s[hop] = now
            self.send_arp(port, 1, frames.BROADCAST, bytes(6), hop)

    # ---- IPv4 and ICMP ---------------------------------------------------------------------------

    def ipv4(self, now, number, reason, frame):
        packet = frame[14:]
        protocol = packet[9]
        source, target = IPv4Address(packet[12:16]), IPv4Address(packet[16:20])
        body = packet[(packet[0] & 15) * 4 : int.from_bytes(packet[2:4], "big")]
        if protocol == frames.LINK_STATE:
            if target == frames.ALL_ROUTERS and self.ports[number].routing:
                self.message(now, number, source, frame[6:12], frames.unpack(body))
        elif target in self.own:
            if protocol == frames.ICMP and body[0] == 8:
                self.icmp(number, frame[6:12], target, source, 0, 0, body[4:])
        elif reason == TTL:
            self.error(number, frame, 11, 0)
        elif reason == NO_ROUTE:
            hop = self.hop(target)
            if hop is None:
                self.error(number, frame, 3, 0)
            elif hop in self.macs:
                port, mac = self.macs[hop]
                self.switch.send(port, mac + self.ports[port].mac + frame[12:])
            else:
                self.hold(now, hop, number, frame)

    def hop(self, target):
        """Who is next on the way to an address; None: nobody knows."""
        for port in self.ports.values():
            if target in port.network:
                return target
        fitting = [each for each in self.static if target in each[0]]
        return max(fitting, key=lambda each: each[0].prefixlen)[1] if fitting else None

    def error(self, number, frame, kind, code):
        packet = frame[14:]
        source, target = IPv4Address(packet[12:16]), IPv4Address(packet[16:20])
        header_bytes = (packet[0] & 15) * 4
        is_later = int.from_bytes(packet[6:8], "big") & 0x1FFF
        is_error = packet[9] == frames.ICMP and packet[header_bytes] not in (0, 8)
        if is_later or is_error or target.is_multicast or frame[0] & 1:
            return
        quote = bytes(4) + packet[: header_bytes + 8]
        self.icmp(number, frame[6:12], self.ports[number].address, source, kind, code, quote)

    def icmp(self, number, mac, source, target, kind, code, rest):
        plain = struct.pack("!BBH", kind, code, 0) + rest
        body = plain[:2] + struct.pack("!H", frames.checksum(plain)) + plain[4:]
        packet = frames.ipv4(source, target, frames.ICMP, body)
        port = self.ports[number]
        self.switch.send(number, frames.ethernet(mac, port.mac, frames.IPV4, packet))

    # ---- link state ------------------------------------------------------------------------------

    def routing_ports(self):
        return [number for number, port in self.ports.items() if port.routing]

    def tell(self, number, message):
        port = self.ports[number]
        packet = frames.ipv4(
            port.address, frames.ALL_ROUTERS, frames.LINK_STATE, message.pack(), ttl=1
        )
        frame = frames.ethernet(frames.ALL_ROUTERS_MAC, port.mac, frames.IPV4, packet)
        self.switch.send(number, frame)

    def message(self, now, number, source, mac, message):
        if isinstance(message, Hello):
            before = self.heard.get(number)
            self.heard[number] = (message.router, source, mac, now)
            if before is None or before[:3] != (message.router, source, mac):
                self.originate()
                for advert in self.adverts.values():
                    self.tell(number, advert)
        elif isinstance(message, Advert):
            known = self.adverts.get(message.origin)
            if message.origin == self.router:
                # Of a life before this one.
                if message.sequence > self.sequence:
                    self.sequence = message.sequence
                    self.originate()
            elif known is None or message.sequence > known.sequence:
                self.flood(message, but=number)

    def originate(self):
        self.sequence += 1
        links = {}
        for number, found in self.heard.items():
            cost = self.ports[number].cost
            links[found[0]] = min(cost, links.get(found[0], cost))
        networks = tuple(port.network for port in self.ports.values())
        self.flood(Advert(self.router, self.sequence, tuple(links.items()), networks))

    def flood(self, advert, but=None):
        self.adverts[advert.origin] = advert
        for number in self.routing_ports():
            if number != but:
                self.tell(number, advert)
        self.program()

    def shortest(self):
        """The port toward each router, by Dijkstra; and how far it is."""
        far, toward = {}, {}
        heap = [(0, self.router.packed, None)]
        while heap:
            distance, packed, first = heapq.heappop(heap)
            node = IPv4Address(packed)
            if node in far:
                continue
            far[node], toward[node] = distance, first
            if node == self.router:
                for number, found in self.heard.items():
                    if self.has_link(found[0], node):
                        cost = self.ports[number].cost
                        heapq.heappush(heap, (cost, found[0].packed, number))
            else:
                for neighbour, cost in self.adverts[node].links:
                    if self.has_link(neighbour, node):
                        heapq.heappush(heap, (distance + cost, neighbour.packed, first))
        return far, toward

    def has_link(self, router, to):
        """Whether a router says that it has this neighbour: half a link is none."""
        advert = self.adverts.get(router)
        return advert is not None and to in [each for each, _ in advert.links]

    # ---- the table -------------------------------------------------------------------------------

    def program(self):
        """Makes the table what is known now."""
        wanted = {}
        far, toward = self.shortest()
        for router in sorted(far, key=lambda each: -far[each]):
            if toward[router] is not None:
                _, _, mac, _ = self.heard[toward[router]]
                for network in self.adverts[router].networks:
                    wanted[network] = (toward[router], mac)
        for network, hop in self.static:
            wanted.pop(network, None)
            if hop in self.macs:
                wanted[network] = self.macs[hop]
        for port in self.ports.values():
            wanted.pop(port.network, None)
        for address, found in self.macs.items():
            wanted[IPv4Network(address)] = found
        for network in self.entries.keys() - wanted.keys():
            self.switch.delete(TABLE, {KEY: network})
        for network, (port, mac) in wanted.items():
            if self.entries.get(network) != (port, mac):
                write = self.switch.modify if network in self.entries else self.switch.insert
                values = {"port": port, "src_addr": self.ports[port].mac, "dst_addr": mac}
                write(TABLE, {KEY: network}, "set_next_hop", **values)
        self.entries = wanted
