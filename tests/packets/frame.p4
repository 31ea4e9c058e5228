// Shared by most packet tests: one header of six bytes, then the payload.
#include <core.p4>
#include <v1model.p4>

header six_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
    bit<16> e;
}

struct headers_t {
    six_t h;
}

struct metadata_t {
    @field_list(1)
    bit<8> kept;
    bit<8> lost;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.h); }
}
