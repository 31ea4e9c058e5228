// @field_list reaches into metadata: a field of a struct, a whole struct, at any depth. The number
// may be a constant's name.
#include "frame.p4"

const bit<8> KEPT = 3;

struct inner_t {
    @field_list(KEPT)
    bit<8> kept;
    bit<8> lost;
}

struct whole_t {
    bit<8> first;
    bit<8> second;
}

struct outer_t {
    inner_t inner;
    @field_list(KEPT)
    whole_t whole;
}

struct nested_t {
    outer_t outer;
}

parser parse_nested(packet_in packet, out headers_t hdr, inout nested_t meta,
                    inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control verify_nothing_nested(inout headers_t hdr, inout nested_t meta) { apply { } }
control compute_nothing_nested(inout headers_t hdr, inout nested_t meta) { apply { } }

control ingress(inout headers_t hdr, inout nested_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        meta.outer.inner.kept = 0x11;
        meta.outer.inner.lost = 0x22;
        meta.outer.whole.first = 0x33;
        meta.outer.whole.second = 0x44;
        clone_preserving_field_list(CloneType.I2E, 5, KEPT);
    }
}

control egress(inout headers_t hdr, inout nested_t meta, inout standard_metadata_t std) {
    apply {
        hdr.h.a = meta.outer.inner.kept;
        hdr.h.b = meta.outer.inner.lost;
        hdr.h.c = meta.outer.whole.first;
        hdr.h.d = meta.outer.whole.second;
    }
}

V1Switch(parse_nested(), verify_nothing_nested(), ingress(), egress(), compute_nothing_nested(),
         deparse()) main;
