// One instance applied in two places: one table, each time with its own argument; return leaves
// only it.
#include "frame.p4"

control step(inout bit<8> place, in bit<8> limit) {
    action set(bit<8> value) { place = value; }
    table t {
        key = { place : exact; }
        actions = { set; NoAction; }
        default_action = NoAction;
    }
    apply {
        if (place > limit) {
            return;
        }
        t.apply();
        place = place + 1;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    step() once;
    apply {
        std.egress_spec = 1;
        if (hdr.h.c == 0) {
            once.apply(hdr.h.a, 10);
        } else {
            once.apply(hdr.h.b, 20);
        }
    }
}

#include "main.p4"
