// switch on the action a table ran.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action one() { hdr.h.b = 1; }
    action two() { hdr.h.b = 2; }
    table t {
        key = { hdr.h.a : exact; }
        actions = { one; two; NoAction; }
        default_action = NoAction;
    }
    apply {
        std.egress_spec = 1;
        switch (t.apply().action_run) {
            one: { hdr.h.c = 0x11; }
            two: { hdr.h.c = 0x22; }
            default: { hdr.h.c = 0xff; }
        }
        hdr.h.d = 0xdd;    }
}

#include "main.p4"
