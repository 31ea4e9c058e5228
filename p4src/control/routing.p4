// IPv4 and IPv6 routing: longest prefix match to a next hop, TTL, MAC rewrite.
//
//   hdr.ipv4 valid, checksum right?            hdr.ipv6 valid?           ARP?        else
//        | ttl > 1        | else                |        |                 |           |
//        v                v                     v        v                 v           v
//   ttl - 1          to the controller:   hop_limit - 1  as for ttl   to the       drop
//   ipv4_routes      TTL is used up       ipv6_routes                 controller
//        |                                      |
//        +--------------------------------------+
//        | set_next_hop,   | set_next_hop_group           | deliver, no_route       | drop
//        v    ..._within   v                              v                         v
//   MACs, egress_spec   next_hop_groups: a hash of     to the controller          drop
//                       the flow picks one next hop
//
// Reads:  hdr, meta.l4, standard_metadata.{checksum_error, ingress_port}.
// Writes: standard_metadata.egress_spec, hdr.ethernet.{dst,src}_addr, the TTL, hdr.packet_in,
//         meta.narrow.
// Apply first in ingress; whatever comes after may still drop or choose a class.

#ifndef VITRINE_CONTROL_ROUTING_P4
#define VITRINE_CONTROL_ROUTING_P4

#include "punt.p4"

control routing(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    // All packets of a flow take the same way: the hash covers what names the flow.
    action_selector(HashAlgorithm.crc16, 1024, 16) next_hop_selector;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    // The packet leaves through `port` toward the neighbour `dst_addr`; `src_addr` is the MAC
    // address of the router's own port.
    action set_next_hop(port_num_t port, mac_addr_t src_addr, mac_addr_t dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
    }

    // The same through a link that takes no IP packets of more than `mtu` bytes: path_mtu.p4 sees to
    // that. Where every packet that can come fits the link, set_next_hop is enough.
    action set_next_hop_within(port_num_t port, mac_addr_t src_addr, mac_addr_t dst_addr,
                               bit<16> mtu) {
        meta.narrow.mtu = mtu;
        meta.narrow.sender = hdr.ethernet.src_addr;
        set_next_hop(port, src_addr, dst_addr);
    }

    // Several next hops are equally good: one of the group `group_id`, which is not 0. If the group
    // is not there the packet is dropped.
    action set_next_hop_group(bit<16> group_id) {
        meta.next_hop_group = group_id;
        mark_to_drop(standard_metadata);
    }

    // For one of the router's own addresses.
    action deliver() {
        to_controller(hdr, standard_metadata, punt_reason_t.LOCAL);
    }

    // For tables' default action, where a controller answers with ICMP errors.
    action no_route() {
        to_controller(hdr, standard_metadata, punt_reason_t.NO_ROUTE);
    }

    // Filled by the controller from the topology: one entry a host or network.
    table ipv4_routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            set_next_hop;
            set_next_hop_within;
            set_next_hop_group;
            deliver;
            no_route;
            drop;
        }
        default_action = drop();
        size = 16384;
    }

    // As above.
    table ipv6_routes {
        key = {
            hdr.ipv6.dst_addr: lpm;
        }
        actions = {
            set_next_hop;
            set_next_hop_within;
            set_next_hop_group;
            deliver;
            no_route;
            drop;
        }
        default_action = drop();
        size = 16384;
    }

    // Filled by the controller: the members of each group. An address that is not there (of the
    // other version) is 0 in the hash.
    table next_hop_groups {
        key = {
            meta.next_hop_group: exact;
            hdr.ipv4.src_addr: selector;
            hdr.ipv4.dst_addr: selector;
            hdr.ipv6.src_addr: selector;
            hdr.ipv6.dst_addr: selector;
            hdr.ipv6.flow_label: selector;
            meta.l4.src: selector;
            meta.l4.dst: selector;
        }
        actions = {
            set_next_hop;
            set_next_hop_within;
            NoAction;
        }
        implementation = next_hop_selector;
        size = 1024;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            // Options that are announced and not there: the packet was cut short.
            bool is_cut_short = hdr.ipv4.ihl > 5 && !hdr.ipv4_options.isValid();
            if (standard_metadata.checksum_error == 1 || is_cut_short) {
                drop();
            } else if (hdr.ipv4.ttl > 1) {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                switch (ipv4_routes.apply().action_run) {
                    set_next_hop_group: {
                        next_hop_groups.apply();
                    }
                }
            } else {
                // The controller knows which addresses are the router's own: for those it is fine.
                to_controller(hdr, standard_metadata, punt_reason_t.TTL);
            }
        } else if (hdr.ipv6.isValid()) {
            if (hdr.ipv6.hop_limit > 1) {
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
                switch (ipv6_routes.apply().action_run) {
                    set_next_hop_group: {
                        next_hop_groups.apply();
                    }
                }
            } else {
                to_controller(hdr, standard_metadata, punt_reason_t.TTL);
            }
        } else if (hdr.ethernet.ether_type == ETHERTYPE_ARP) {
            to_controller(hdr, standard_metadata, punt_reason_t.NEIGHBOUR);
        } else {
            drop();
        }
    }
}

#endif
