// A value set is empty at first, so its case never fits.
#include <core.p4>
#include <v1model.p4>

header byte_t {
    bit<8> v;
}

struct headers_t {
    byte_t x;
}

struct metadata_t {
    bit<8> state;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    value_set<bit<8>>(4) known;

    state start {
        packet.extract(hdr.x);
        transition select(hdr.x.v) {
            known: inside;
            0x07: seven;
            _: accept;
        }
    }
    state inside { meta.state = 1; transition accept; }
    state seven { meta.state = 2; transition accept; }
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
        packet.emit(hdr.x);
    }
}

#include "main.p4"
