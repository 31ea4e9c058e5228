// At most one header of a union is valid.
#include <core.p4>
#include <v1model.p4>

header one_t {
    bit<8> kind;
    bit<8> v;
}

header two_t {
    bit<8> kind;
    bit<16> v;
}

header_union either_t {
    one_t one;
    two_t two;
}

struct headers_t {
    either_t u;
}

struct metadata_t {
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        transition select(packet.lookahead<bit<8>>()) {
            1: parse_one;
            2: parse_two;
            default: accept;
        }
    }
    state parse_one {
        packet.extract(hdr.u.one);
        transition accept;
    }
    state parse_two {
        packet.extract(hdr.u.two);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (!hdr.u.isValid()) {
            std.egress_spec = 3;
        } else if (hdr.u.one.isValid()) {
            bit<8> v = hdr.u.one.v;
            hdr.u.two.setValid();
            hdr.u.two.kind = 2;
            hdr.u.two.v = 8w0 ++ v;
        } else {
            hdr.u.two.v = hdr.u.two.v + 1;
        }
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.u);
    }
}

#include "main.p4"
