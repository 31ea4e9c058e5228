// for with break and continue, over a range and by counting.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        bit<8> sum = 0;
        for (bit<8> i = 0; i < hdr.h.a; i = i + 1) {
            if (i == 3) {
                continue;
            }
            if (i == 6) {
                break;
            }
            sum = sum + i;
        }
        hdr.h.b = sum;
        bit<8> product = 1;
        for (bit<8> i in 1 .. 4) {
            product = product * i;
        }
        hdr.h.c = product;    }
}

#include "main.p4"
