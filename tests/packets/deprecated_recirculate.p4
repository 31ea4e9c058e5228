// recirculate keeps the fields that it is given.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.h.b = meta.kept;
        hdr.h.c = meta.lost;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.h.a = hdr.h.a + 1;
        if (hdr.h.a < 3) {
            meta.kept = 0x44;
            meta.lost = 0x55;
            recirculate({ meta.lost });
        }
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute_nothing(), deparse()) main;
