// Slices as places and as values, also slices of slices.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.h.c[7:4] = hdr.h.a[3:0];
        hdr.h.d[6:1][3:2] = 2w0b11;
        hdr.h.e = hdr.h.e[7:0] ++ hdr.h.e[15:8];    }
}

#include "main.p4"
