// Basic forwarding: the least that makes an IPv4 router.
//
//   IPv4, ttl > 1?  yes: ttl - 1, ipv4_routes: MACs and port     no: drop
//
// The kit's controller writes a table of this name, with these keys and actions, from the topology; it
// has routes of other kinds too, which this program does without.
// To try: drop every packet of one host. Count what passes. Send what leads nowhere to port 1.

#include <core.p4>
#include <v1model.p4>
#include "../lib/parsers.p4"
#include "../lib/checksums.p4"

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action set_next_hop(port_num_t port, mac_addr_t src_addr, mac_addr_t dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table ipv4_routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            set_next_hop;
            drop;
        }
        default_action = drop();
        size = 1024;
    }

    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            ipv4_routes.apply();
        } else {
            drop();
        }
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;
