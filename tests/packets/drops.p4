// mark_to_drop drops, unless a port is chosen after it.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (hdr.h.a == 0) {
            mark_to_drop(std);
        }
        if (hdr.h.b == 1) {
            std.egress_spec = 2;
        }    }
}

#include "main.p4"
