// recirculate sends the packet, as it leaves, through the whole switch again.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.h.b = meta.kept;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.h.a = hdr.h.a + 1;
        // Unicast makes the packet a normal one again: only its headers tell the rounds apart.
        if (hdr.h.a < 3) {
            meta.kept = 0x44;
            recirculate_preserving_field_list(1);
        }
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute_nothing(), deparse()) main;
