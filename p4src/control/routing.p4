// IPv4 routing: longest prefix match to a next hop, TTL, MAC rewrite.
//
//   hdr.ipv4 valid, checksum right, ttl > 1 ?
//        | yes                          | no
//        v                              v
//   ipv4_routes (LPM on dst_addr)      drop
//        | set_next_hop                | drop, or no entry
//        v                             v
//   ttl - 1, MACs rewritten,          drop
//   egress_spec = the entry's port
//
// Reads:  hdr.ipv4, standard_metadata.{checksum_error, parser_error}.
// Writes: standard_metadata.egress_spec, hdr.ethernet.{dst,src}_addr, hdr.ipv4.ttl.
// Apply first in ingress; whatever comes after may still drop or choose a class.

#ifndef VITRINE_CONTROL_ROUTING_P4
#define VITRINE_CONTROL_ROUTING_P4

#include "../lib/parsers.p4"

control routing(inout headers_t hdr, inout standard_metadata_t standard_metadata) {
    // Counts packets and bytes of each route.
    direct_counter(CounterType.packets_and_bytes) ipv4_route_traffic;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    // The packet leaves through `port` toward the neighbour `dst_addr`; `src_addr` is the MAC
    // address of the router's own port.
    action set_next_hop(port_num_t port, mac_addr_t src_addr, mac_addr_t dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    // Filled by the controller from the topology: one entry a host or network.
    table ipv4_routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            set_next_hop;
            drop;
        }
        default_action = drop();
        counters = ipv4_route_traffic;
        size = 16384;
    }

    apply {
        // A TTL of 1 would reach 0 here: such a packet has lived long enough.
        if (hdr.ipv4.isValid() && standard_metadata.checksum_error == 0 && hdr.ipv4.ttl > 1) {
            ipv4_routes.apply();
        } else {
            drop();
        }
    }
}

#endif
