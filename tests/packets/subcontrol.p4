// A control instantiated twice with different constructor arguments: each has its own table.
#include "frame.p4"

control adder(inout bit<8> place)(bit<8> amount) {
    action add() { place = place + amount; }
    table t {
        key = { place : exact; }
        actions = { add; NoAction; }
        default_action = NoAction;
    }
    apply { t.apply(); }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    adder(1) small;
    adder(0x10) large;
    apply {
        std.egress_spec = 1;
        small.apply(hdr.h.a);
        large.apply(hdr.h.b);
    }
}

#include "main.p4"
