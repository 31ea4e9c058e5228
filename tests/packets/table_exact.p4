// An exact table with arguments from the control plane and a default action.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set(bit<9> port, bit<8> value) {
        std.egress_spec = port;
        hdr.h.b = value;
    }
    action miss(bit<8> value) {
        std.egress_spec = 7;
        hdr.h.b = value;
    }
    table t {
        key = { hdr.h.a : exact; hdr.h.c : exact @name("third"); }
        actions = { set; miss; }
        default_action = miss(0xee);
        size = 16;
    }
    apply {
        t.apply();    }
}

#include "main.p4"
