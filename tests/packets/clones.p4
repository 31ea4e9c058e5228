// A clone starts egress with the packet as it arrived and the metadata of its field list.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        meta.kept = 0x11;
        meta.lost = 0x22;
        clone_preserving_field_list(CloneType.I2E, 5, 1);
        hdr.h.a = 0xaa;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.h.b = (bit<8>)std.instance_type;
        hdr.h.c = meta.kept;
        hdr.h.d = meta.lost;
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute_nothing(), deparse()) main;
