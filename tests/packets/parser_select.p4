// select with values, masks, ranges, tuples and default.
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
    bit<8> state;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.x);
        packet.extract(hdr.y);
        transition select(hdr.x.v, hdr.y.v) {
            (0x01, 0x02): exact_values;
            (0x10 &&& 0xf0, _): masked;
            (_, 5 .. 9): ranged;
            default: nothing;
        }
    }
    state exact_values { meta.state = 1; transition accept; }
    state masked { meta.state = 2; transition accept; }
    state ranged { meta.state = 3; transition accept; }
    state nothing { meta.state = 4; transition accept; }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.x.v = meta.state;
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
