// lookahead reads without moving, advance moves without reading.
#include <core.p4>
#include <v1model.p4>

header byte_t {
    bit<8> v;
}

header pair_t {
    bit<4> high;
    bit<4> low;
    bit<8> next;
}

struct headers_t {
    byte_t x;
    byte_t y;
}

struct metadata_t {
    bit<8> seen;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        pair_t ahead = packet.lookahead<pair_t>();
        meta.seen = ahead.low ++ ahead.high;
        transition select(packet.lookahead<bit<16>>()) {
            0x1234: skip;
            default: take;
        }
    }
    state skip {
        packet.advance(8);
        transition take;
    }
    state take {
        packet.extract(hdr.x);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.y.setValid();
        hdr.y.v = meta.seen;
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.x);
        packet.emit(hdr.y);
    }
}

#include "main.p4"
