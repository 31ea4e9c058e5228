// Range and optional keys.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set(bit<8> value) { hdr.h.d = value; }
    table t {
        key = { hdr.h.a : range; hdr.h.b : optional; }
        actions = { set; }
        default_action = set(0);
        const entries = {
            (10 .. 20, 0x05) : set(1);
            (15 .. 30, _) : set(2);
        }
    }
    apply {
        std.egress_spec = 1;
        t.apply();    }
}

#include "main.p4"
