// resubmit keeps the fields that it is given: a struct's are all of its fields.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (std.instance_type == 0) {
            meta.kept = hdr.h.a + 1;
            meta.lost = hdr.h.a + 2;
            hdr.h.b = 0xbb;
            if (hdr.h.e == 0) {
                resubmit(meta);
            } else {
                resubmit({});
            }
        } else {
            hdr.h.c = meta.kept;
            hdr.h.d = meta.lost;
        }
    }
}

#include "main.p4"
