// Two out arguments in one place: the last one copied stays.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action both(out bit<8> x, out bit<8> y) {
        y = 2;
        x = 1;
    }
    apply {
        std.egress_spec = 1;
        both(hdr.h.a, hdr.h.a);    }
}

#include "main.p4"
