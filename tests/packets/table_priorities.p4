// Entries that are not constant have priorities; the largest wins.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set(bit<8> value) { hdr.h.d = value; }
    table t {
        key = { hdr.h.a : ternary; }
        actions = { set; }
        default_action = set(0);
        entries = {
            priority = 10: 0x00 &&& 0x80 : set(1);
            priority = 30: 0x01 &&& 0x01 : set(2);
            priority = 20: 0x03 : set(3);
        }
    }
    apply {
        std.egress_spec = 1;
        t.apply();    }
}

#include "main.p4"
