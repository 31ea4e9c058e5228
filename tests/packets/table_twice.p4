// A table applied in two places, one for each kind of packet, that go on differently.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set() { hdr.h.b = hdr.h.b + 1; }
    table t {
        key = { hdr.h.a : exact; }
        actions = { set; NoAction; }
        default_action = NoAction;
        const entries = { 0x01 : set(); }
    }
    apply {
        std.egress_spec = 1;
        if (hdr.h.e == 0) {
            if (t.apply().hit) {
                hdr.h.c = 0x11;
            }
        } else {
            t.apply();
            hdr.h.d = 0x22;
        }
    }
}

#include "main.p4"
