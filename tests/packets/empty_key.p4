// A key of no bits has one value, so it always matches, and the switch does not compare it.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    bit<0> nothing = 0;

    action put(bit<8> value) { hdr.h.b = value; }
    action add(bit<8> value) { hdr.h.c = hdr.h.c + value; }

    table alone {
        key = { nothing : exact; }
        actions = { put; NoAction; }
        const entries = { 0 : put(7); }
    }
    table beside {
        key = {
            nothing : ternary;
            hdr.h.a : exact;
            hdr.h.e[15:8] ++ nothing : lpm @name("prefix");
        }
        actions = { add; NoAction; }
        const entries = {
            (_, 1, 0x10 &&& 0xf0) : add(1);
            (0, 1, 0x12) : add(2);
            (0, 2, _) : add(3);
        }
    }
    apply {
        std.egress_spec = 1;
        if (alone.apply().miss) { hdr.h.d = 0xff; }
        beside.apply();
    }
}

#include "main.p4"
