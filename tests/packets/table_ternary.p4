// Ternary entries: the first one listed wins.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set(bit<8> value) { hdr.h.d = value; }
    table t {
        key = { hdr.h.a : ternary; hdr.h.b : ternary; }
        actions = { set; }
        default_action = set(0);
        const entries = {
            (0x01, _) : set(1);
            (0x00 &&& 0x80, 0x05) : set(2);
            (_, 0x0f &&& 0x0f) : set(3);
        }
    }
    apply {
        std.egress_spec = 1;
        t.apply();    }
}

#include "main.p4"
