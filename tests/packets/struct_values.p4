// Structs and tuples as values; an assignment reads everything before it writes.
#include <core.p4>
#include <v1model.p4>

struct inner_t {
    bit<8> a;
    bit<8> b;
}

header outer_t {
    inner_t first;
    inner_t second;
}

struct headers_t {
    outer_t h;
}

struct metadata_t {
    inner_t kept;
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

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        meta.kept = hdr.h.first;
        hdr.h.first = { hdr.h.first.b, hdr.h.first.a };
        tuple<bit<8>, bit<8>> t = { meta.kept.b, 0x77 };
        hdr.h.second.a = t[0];
        if (meta.kept == (inner_t){ 1, 2 }) {
            hdr.h.second.b = t[1];
        }
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

#include "main.p4"
