// A field cast to more bits is no longer the field: keys of tables, select and hash have all the bits.
#include <core.p4>
#include <v1model.p4>

header flags_t {
    bit<4> high;
    bit<4> low;
    bit<8> b;
    bit<8> c;
    bit<16> d;
}

struct headers_t {
    flags_t h;
}

struct metadata_t {
    bit<8> seen;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition select((bit<12>)hdr.h.low, hdr.h.high) {
            (12w0x105, _): wrong;
            (12w5 &&& 12w0x10f, 4w3): right;
            default: accept;
        }
    }
    state wrong {
        meta.seen = 0xff;
        transition accept;
    }
    state right {
        meta.seen = 1;
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set(bit<8> value) { hdr.h.c = value; }
    table t {
        key = {
            (bit<8>)hdr.h.low : ternary @name("low");
        }
        actions = { set; }
        default_action = set(0);
    }
    apply {
        std.egress_spec = 1;
        hdr.h.b = meta.seen;
        t.apply();
        // Of 0005: what is summed are words.
        hash(hdr.h.d, HashAlgorithm.csum16, 16w0, { (bit<16>)hdr.h.low }, 17w0x10000);
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.h); }
}

#include "main.p4"
