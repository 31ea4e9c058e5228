// A header that is not valid, assigned to one member of a union, leaves no member valid (P4-16, 8.20).
#include <core.p4>
#include <v1model.p4>

header two_t {
    bit<8> a;
    bit<8> b;
}

header_union either_t {
    two_t one;
    two_t two;
}

struct headers_t {
    two_t what;
    either_t u;
    two_t never;
}

struct metadata_t {
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.what);
        packet.extract(hdr.u.one);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action copied_out(inout two_t place) { }

    apply {
        std.egress_spec = 1;
        if (hdr.what.a == 1) {
            hdr.u.two.setInvalid();
        } else if (hdr.what.a == 2) {
            hdr.u.two = hdr.never;
        } else if (hdr.what.a == 3) {
            copied_out(hdr.u.two);
        } else if (hdr.what.a == 4) {
            hdr.u.two = hdr.u.one;
        }
        hdr.what.b = hdr.u.isValid() ? 8w1 : 8w0;
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr); }
}

#include "main.p4"
