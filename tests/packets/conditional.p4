// A conditional expression evaluates one side only.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    bit<8> count = 0;
    action counted(out bit<8> result, in bit<8> value) {
        count = count + 1;
        result = value;
    }
    apply {
        std.egress_spec = 1;
        hdr.h.c = hdr.h.a == 1 ? hdr.h.b : hdr.h.d;
        if (hdr.h.a == 1) {
            counted(hdr.h.e[7:0], 0x77);
        }
        hdr.h.e[15:8] = count;    }
}

#include "main.p4"
