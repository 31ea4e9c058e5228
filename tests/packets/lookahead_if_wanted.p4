// Unused bits need not be there: `?:`, `&&` and `||` look ahead only where they must.
#include <core.p4>
#include <v1model.p4>

header two_t {
    bit<8> a;
    bit<8> b;
}

struct headers_t {
    two_t h;
}

struct metadata_t {
    bool seen;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        hdr.h.b = hdr.h.a == 1 ? packet.lookahead<bit<8>>() : 8w0x77;
        meta.seen = hdr.h.a == 2 && packet.lookahead<bit<8>>() == 5;
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = std.parser_error == error.PacketTooShort ? 9w2 : 9w1;
        if (meta.seen) {
            std.egress_spec = 3;
        }
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.h); }
}

#include "main.p4"
