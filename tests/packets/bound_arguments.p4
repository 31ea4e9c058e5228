// A table's list of actions can bind arguments with a direction.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action add_to(inout bit<8> place, bit<8> amount) { place = place + amount; }
    table t {
        key = { hdr.h.a : exact; }
        actions = { add_to(hdr.h.b); NoAction; }
        default_action = NoAction;
    }
    table u {
        key = { hdr.h.a : exact; }
        actions = { add_to(hdr.h.c); }
        default_action = add_to(hdr.h.c, 1);
    }
    apply {
        std.egress_spec = 1;
        t.apply();
        u.apply();    }
}

#include "main.p4"
