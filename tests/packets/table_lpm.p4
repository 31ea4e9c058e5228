// The longest prefix wins, whatever the order of the entries.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set(bit<8> value) { hdr.h.a = value; }
    table t {
        key = { hdr.h.e : lpm; }
        actions = { set; NoAction; }
        default_action = NoAction;
        const entries = {
            16w0x1200 &&& 16w0xff00 : set(0x08);
            16w0x1234 &&& 16w0xffff : set(0x10);
            16w0x1000 &&& 16w0xf000 : set(0x04);
        }
    }
    apply {
        std.egress_spec = 1;
        t.apply();    }
}

#include "main.p4"
