// Casts cut or extend; the sign is extended only from int.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        int<8> x = (int<8>)hdr.h.a;
        hdr.h.e = (bit<16>)(int<16>)x;
        hdr.h.b = (bit<8>)(bit<4>)hdr.h.a;
        bool odd = (bool)hdr.h.a[0:0];
        hdr.h.c = odd ? 8w1 : 8w2;
        hdr.h.d = 7w0 ++ (bit<1>)(hdr.h.a > 0x7f);    }
}

#include "main.p4"
