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
        hdr.h.c = product;
        // The list is evaluated once: 1 + 2 + 4 = 7, whatever the rounds do to `last`.
        bit<8> last = 4;
        bit<8> all = 0;
        for (bit<8> i in (list<bit<8>>){1, 2, last}) {
            all = all + i;
            last = 32;
        }
        hdr.h.d = all;
    }
}

#include "main.p4"
