// A sub-parser is applied in two states, with out and inout arguments.
#include <core.p4>
#include <v1model.p4>

header byte_t {
    bit<8> v;
}

struct headers_t {
    byte_t x;
    byte_t y;
}

struct metadata_t {
    bit<8> sum;
}

parser one_byte(packet_in packet, out byte_t h, inout bit<8> sum) {
    state start {
        packet.extract(h);
        transition select(h.v) {
            0: accept;
            default: count;
        }
    }
    state count {
        sum = sum + h.v;
        transition accept;
    }
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    one_byte() sub;

    state start {
        sub.apply(packet, hdr.x, meta.sum);
        transition select(hdr.x.v) {
            0xff: accept;
            default: second;
        }
    }
    state second {
        sub.apply(packet, hdr.y, meta.sum);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.x.v = meta.sum;
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
