// A firewall with memory: who is inside may begin a conversation, who is outside may only answer.
//
//   routing -> from inside:  remember the flow in a Bloom filter
//           -> from outside: drop, unless the flow was remembered the other way round
//
// The filter is two registers of bits, each at a hash of the flow. It forgets nothing, and now and
// then it takes a stranger for a known flow: with n flows in 4096 bits by (1 - e^(-n/4096))^2.
// To try: make the filter small enough to be fooled. Let only one host be inside. Let pings through.

#include <core.p4>
#include <v1model.p4>
#include "../lib/parsers.p4"
#include "../lib/checksums.p4"
#include "../control/punt.p4"
#include "../control/routing.p4"

const bit<32> FILTER_BITS = 4096;

control firewall(in headers_t hdr, in metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<1>>(FILTER_BITS) first;
    register<bit<1>>(FILTER_BITS) second;

    action inside() { }

    // The ports behind which those are who may begin.
    table inside_ports {
        key = {
            standard_metadata.ingress_port: exact;
        }
        actions = {
            inside;
            NoAction;
        }
        const entries = {
            1: inside();
            2: inside();
        }
        const default_action = NoAction();
    }

    apply {
        if (hdr.ipv4.isValid()) {
            bool is_inside = inside_ports.apply().hit;
            // A flow has one name in both directions: the inside address and port come first.
            ipv4_addr_t near = is_inside ? hdr.ipv4.src_addr : hdr.ipv4.dst_addr;
            ipv4_addr_t far = is_inside ? hdr.ipv4.dst_addr : hdr.ipv4.src_addr;
            bit<16> near_port = is_inside ? meta.l4.src : meta.l4.dst;
            bit<16> far_port = is_inside ? meta.l4.dst : meta.l4.src;
            bit<32> at_first;
            bit<32> at_second;
            hash(at_first, HashAlgorithm.crc16, 32w0,
                 { near, far, hdr.ipv4.protocol, near_port, far_port }, FILTER_BITS);
            hash(at_second, HashAlgorithm.crc32, 32w0,
                 { near, far, hdr.ipv4.protocol, near_port, far_port }, FILTER_BITS);
            if (is_inside) {
                first.write(at_first, 1);
                second.write(at_second, 1);
            } else {
                bit<1> known_first;
                bit<1> known_second;
                first.read(known_first, at_first);
                second.read(known_second, at_second);
                if (known_first == 0 || known_second == 0) {
                    mark_to_drop(standard_metadata);
                }
            }
        }
    }
}

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.packet_out.isValid()) {
            from_controller.apply(hdr, standard_metadata);
        } else {
            routing.apply(hdr, meta, standard_metadata);
            firewall.apply(hdr, meta, standard_metadata);
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
