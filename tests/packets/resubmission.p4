// resubmit parses the packet again and keeps the fields of its list.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (std.instance_type == 0) {
            meta.kept = hdr.h.a + 1;
            meta.lost = hdr.h.a + 1;
            hdr.h.b = 0xbb;
            resubmit_preserving_field_list(1);
        } else {
            hdr.h.c = meta.kept;
            hdr.h.d = meta.lost;
        }    }
}

#include "main.p4"
