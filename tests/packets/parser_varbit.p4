// A varbit field takes the number of bits given to extract.
#include <core.p4>
#include <v1model.p4>

header first_t {
    bit<8> bytes;
}

header rest_t {
    varbit<64> options;
    bit<8> last;
}

struct headers_t {
    first_t first;
    rest_t rest;
}

struct metadata_t {
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.first);
        packet.extract(hdr.rest, (bit<32>)hdr.first.bytes * 8);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.rest.last = hdr.rest.last + 1;
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.rest);
        packet.emit(hdr.first);
    }
}

#include "main.p4"
