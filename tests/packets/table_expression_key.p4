// Keys that are expressions are computed when the table is applied.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set(bit<8> value) { hdr.h.d = value; }
    table t {
        key = {
            hdr.h.a + hdr.h.b : exact @name("sum");
            hdr.h.e[7:4] : exact;
            hdr.h.isValid() : exact;
        }
        actions = { set; }
        default_action = set(0);
        const entries = { (0x0a, 0x3, true) : set(1); }
    }
    apply {
        std.egress_spec = 1;
        t.apply();    }
}

#include "main.p4"
