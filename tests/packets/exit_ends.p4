// exit ends the control, from an action too; egress still runs with the values written before.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action leave() {
        hdr.h.b = 0xee;
        exit;
    }
    table t {
        key = { hdr.h.a : exact; }
        actions = { leave; NoAction; }
        const entries = { 0x01 : leave(); }
        default_action = NoAction;
    }
    apply {
        std.egress_spec = 1;
        t.apply();
        hdr.h.c = 0xcc;
        if (hdr.h.a == 2) {
            exit;
        }
        hdr.h.d = 0xdd;    }
}

#include "main.p4"
