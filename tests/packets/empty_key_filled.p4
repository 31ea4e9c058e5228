// A key of no bits in a table that controllers fill: what they write does not mention it.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    bit<0> nothing = 0;

    action set(bit<8> value) { hdr.h.d = value; }

    table filled {
        key = { hdr.h.a : exact; nothing : lpm; }
        actions = { set; NoAction; }
    }
    apply {
        std.egress_spec = 1;
        filled.apply();
    }
}

#include "main.p4"
