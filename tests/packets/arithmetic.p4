// Sums, differences and products keep the low bits.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.h.c = hdr.h.a + hdr.h.b;
        hdr.h.d = hdr.h.a - hdr.h.b;
        hdr.h.e = (bit<16>)hdr.h.a * 300;    }
}

#include "main.p4"
