// Headers as values: assigned with their validity, compared, made from a list.
#include <core.p4>
#include <v1model.p4>

header pair_t {
    bit<8> a;
    bit<8> b;
}

struct headers_t {
    pair_t x;
    pair_t y;
    pair_t z;
}

struct metadata_t {
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        transition select(packet.lookahead<bit<8>>()) {
            0: accept;
            0x80 &&& 0x80: parse_x;
            default: parse_both;
        }
    }
    state parse_x {
        packet.extract(hdr.x);
        transition accept;
    }
    state parse_both {
        packet.extract(hdr.x);
        packet.extract(hdr.y);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (hdr.x == hdr.y) {
            hdr.z = { 0xee, 0xee };
        } else if (hdr.x == (pair_t){ 1, 2 }) {
            pair_t copy = hdr.x;
            hdr.x = hdr.y;
            hdr.y = copy;
        } else {
            // z is not valid, and so x will not be.
            hdr.x = hdr.z;
        }
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

#include "main.p4"
