// Shifts of int fill with the sign; shifts beyond the width leave nothing.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        int<8> x = (int<8>)hdr.h.a;
        hdr.h.c = (bit<8>)(x >> hdr.h.b);
        hdr.h.d = hdr.h.a >> hdr.h.b;
        hdr.h.e = ((bit<16>)hdr.h.a) << hdr.h.b;    }
}

#include "main.p4"
