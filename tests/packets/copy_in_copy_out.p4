// An action's inout arguments are copied in, and out when it ends.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action swap_and_look(inout bit<8> x, inout bit<8> y) {
        bit<8> old = x;
        x = y;
        // The argument itself changes only when the action ends.
        hdr.h.c = hdr.h.a;
        y = old;
    }
    apply {
        std.egress_spec = 1;
        swap_and_look(hdr.h.a, hdr.h.b);    }
}

#include "main.p4"
