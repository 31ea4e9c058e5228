// exit inside an action still copies its out arguments.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set_and_exit(out bit<8> x) {
        x = 0x55;
        exit;
    }
    apply {
        std.egress_spec = 1;
        set_and_exit(hdr.h.b);
        hdr.h.c = 0xcc;    }
}

#include "main.p4"
