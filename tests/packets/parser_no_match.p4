// A select without a matching case ends the parser with error.NoMatch, as P4-16 says in 13.6.
#include <core.p4>
#include <v1model.p4>

header byte_t {
    bit<8> v;
}

struct headers_t {
    byte_t x;
    byte_t y;
    byte_t z;
}

struct metadata_t {
}

parser inner(packet_in packet, inout headers_t hdr) {
    state start {
        packet.extract(hdr.y);
        transition select(hdr.y.v) {
            1: accept;
        }
    }
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    inner() sub;

    state start {
        packet.extract(hdr.x);
        transition select(hdr.x.v) {
            0: accept;
            0x10 &&& 0xf0: go_on;
        }
    }
    state go_on {
        sub.apply(packet, hdr);
        packet.extract(hdr.z);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = std.parser_error == error.NoMatch ? 9w2 : 9w1;
        if (hdr.z.isValid()) {
            hdr.z.v = 0xee;
        }
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr); }
}

#include "main.p4"
