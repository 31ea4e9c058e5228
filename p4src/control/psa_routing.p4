// IPv4 routing on PSA: longest prefix match to a next hop, TTL, MAC rewrite.
//
//   hdr.ipv4 valid, checksum right?      ARP?        else
//        | ttl > 1      | else            |           |
//        v              v                 v           v
//   ttl - 1        to the controller   the same     nothing
//   ipv4_routes
//        | set_next_hop          | deliver, no_route       | drop
//        v                       v                         v
//   MACs, send_to_port      to the controller           nothing
//
// "Nothing" drops: PSA's ostd.drop is true until send_to_port is called.
//
// Reads:  hdr, istd.{ingress_port, parser_error}.
// Writes: ostd, hdr.ethernet.{dst,src}_addr, the TTL, hdr.packet_in.
// Tables and actions are those of routing.p4 as far as they go, so the same controller fills them.

#ifndef VITRINE_CONTROL_PSA_ROUTING_P4
#define VITRINE_CONTROL_PSA_ROUTING_P4

#include "../lib/psa_frames.p4"

control psa_routing(inout headers_t hdr,
                    in psa_ingress_input_metadata_t istd,
                    inout psa_ingress_output_metadata_t ostd) {
    action to_controller(punt_reason_t reason) {
        send_to_port(ostd, PSA_PORT_CPU);
        hdr.packet_in.setValid();
        hdr.packet_in.padding = 0;
        hdr.packet_in.ingress_port = (port_num_t) (PortIdUint_t) istd.ingress_port;
        hdr.packet_in.reason = reason;
    }

    action drop() {
        ingress_drop(ostd);
    }

    // The packet leaves through `port` toward the neighbour `dst_addr`; `src_addr` is the MAC
    // address of the router's own port.
    action set_next_hop(port_num_t port, mac_addr_t src_addr, mac_addr_t dst_addr) {
        send_to_port(ostd, (PortId_t) (PortIdUint_t) port);
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
    }

    // For one of the router's own addresses.
    action deliver() {
        to_controller(punt_reason_t.LOCAL);
    }

    // For the table's default action, where a controller answers with ICMP errors.
    action no_route() {
        to_controller(punt_reason_t.NO_ROUTE);
    }

    // Filled by the controller from the topology: one entry a host or network.
    table ipv4_routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            set_next_hop;
            deliver;
            no_route;
            drop;
        }
        default_action = drop();
        psa_idle_timeout = PSA_IdleTimeout_t.NO_TIMEOUT;
        size = 1024;
    }

    apply {
        if (istd.parser_error != error.NoError) {
            drop();
        } else if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.ttl > 1) {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                ipv4_routes.apply();
            } else {
                to_controller(punt_reason_t.TTL);
            }
        } else if (hdr.ethernet.ether_type == ETHERTYPE_ARP) {
            to_controller(punt_reason_t.NEIGHBOUR);
        }
    }
}

#endif
