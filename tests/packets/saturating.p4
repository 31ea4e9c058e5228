// Saturating operators stop at the ends of the type.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        int<8> x = (int<8>)hdr.h.a;
        int<8> y = (int<8>)hdr.h.b;
        hdr.h.c = hdr.h.a |+| hdr.h.b;
        hdr.h.d = hdr.h.a |-| hdr.h.b;
        hdr.h.e = (bit<8>)(x |+| y) ++ (bit<8>)(x |-| y);    }
}

#include "main.p4"
