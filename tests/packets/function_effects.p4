// Operands are evaluated from left to right, and keep the value they had then.
#include "frame.p4"

bit<8> bump(inout bit<8> x) {
    x = x + 1;
    return x;
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.h.b = hdr.h.a + bump(hdr.h.a);
        hdr.h.c = bump(hdr.h.a) - bump(hdr.h.a);
        hdr.h.d = hdr.h.a;
    }
}

#include "main.p4"
