// Arguments that a table gives to its actions may be negative.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action add(int<8> step) {
        hdr.h.b = (bit<8>)((int<8>)hdr.h.b + step);
        hdr.h.e = (bit<16>)(int<16>)step;
    }
    table steps {
        key = { hdr.h.a : exact; }
        actions = { add; }
        const entries = {
            1 : add(-3);
            2 : add(3);
        }
        const default_action = add(-1);
    }
    apply {
        std.egress_spec = 1;
        steps.apply();
    }
}

#include "main.p4"
