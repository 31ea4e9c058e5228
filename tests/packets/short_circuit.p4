// The right side of && and || runs only when it decides.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    bit<8> calls = 0;
    table never {
        key = { hdr.h.a : exact; }
        actions = { NoAction; }
        const entries = { 0x01 : NoAction(); }
    }
    apply {
        std.egress_spec = 1;
        if (hdr.h.b == 1 && never.apply().hit) {
            hdr.h.c = 0x11;
        } else {
            hdr.h.c = 0x22;
        }    }
}

#include "main.p4"
