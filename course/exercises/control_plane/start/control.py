"""The control plane of one router. As it is it delivers pings to itself, and answers none.

The router runs the kit's program, p4src/programs/router.p4. It sends here what it cannot decide;
what this class writes into its table it decides alone from then on.
"""

from ipaddress import IPv4Network

import frames

# Why a packet came here. (A packet for one of the router's own addresses comes as LOCAL; with a
# TTL of 1 it comes as TTL all the same.)
NEIGHBOUR, LOCAL, NO_ROUTE, TTL = 1, 2, 3, 4
TABLE, KEY = "ipv4_routes", "hdr.ipv4.dst_addr"


class Control:
    """One router's. What it remembers is its own: each router has a process for itself."""

    def __init__(self, switch, router, ports, static):
        """`router` is its number in link state, an address that no packet goes to.

        Each of `ports` has number, mac (6 bytes), address (IPv4Address), network (IPv4Network),
        cost, and routing: whether routers that speak link state may be there. `static` is a list of
        (network, address of the next hop).

            switch.insert(TABLE, {KEY: network}, "set_next_hop", port=2, src_addr=mac, dst_addr=mac)
            switch.modify(...)      # the same for an entry that is there
            switch.delete(TABLE, {KEY: network})
            switch.send(port, frame)
        """
        self.switch = switch
        self.router = router
        self.ports = {port.number: port for port in ports}
        self.static = static
        for port in ports:
            switch.insert(TABLE, {KEY: IPv4Network(port.address)}, "deliver")

    def packet_in(self, now, port, reason, frame):
        """A packet came by this port. `now` is in seconds, `frame` begins with Ethernet."""
        ether_type = int.from_bytes(frame[12:14], "big")
        if ether_type == frames.ARP:
            # GAP 1: answer requests for self.ports[port].address; learn from replies (GAP 4).
            return
        # The packet is frame[14:]; source and target are IPv4Address(packet[12:16]) and [16:20].
        # GAP 2: an echo request for one of the router's own addresses is answered.
        # GAP 3: with reason TTL, or NO_ROUTE and no way, the sender is told; mostly.
        # GAP 4: with NO_ROUTE and a way, ask for the next hop, hold the packet, send it on later,
        #        and write an entry, so that the next one does not come here.
        # GAP 6: protocol frames.LINK_STATE to frames.ALL_ROUTERS: frames.unpack(packet[20:]).

    def tick(self, now):
        """Every 50 ms."""
        # GAP 4: who has not answered for a second will not.
        # GAP 5: say hello; who has not been heard of is gone.
