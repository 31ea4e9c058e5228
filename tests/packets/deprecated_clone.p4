// clone3 keeps the given fields, of metadata and of the standard metadata. A value that is no field
// has no place in the copy.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        meta.kept = 0x11;
        meta.lost = 0x22;
        clone3(CloneType.I2E, 5, { meta.lost, std.ingress_port, 8w7 });
        hdr.h.a = 0xaa;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.h.b = (bit<8>)std.instance_type;
        hdr.h.c = meta.kept;
        hdr.h.d = meta.lost;
        if (std.instance_type == 1) {
            hdr.h.e = (bit<16>)std.ingress_port;
        }
        if (std.instance_type == 0 && hdr.h.e == 1) {
            clone3(CloneType.E2E, 6, meta);
        }
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute_nothing(), deparse()) main;
