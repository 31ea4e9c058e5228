// bool, enum, serialisable enum and type in headers and metadata.
#include <core.p4>
#include <v1model.p4>

type bit<8> color_t;

enum bit<8> kind_t {
    SMALL = 1,
    LARGE = 2
}

enum answer_t { YES, NO }

header h_t {
    kind_t kind;
    color_t color;
    bool flag;
    bit<7> rest;
}

struct headers_t {
    h_t h;
}

struct metadata_t {
    answer_t answer;
    bool was_set;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.kind) {
            kind_t.SMALL: small;
            default: accept;
        }
    }
    state small {
        meta.was_set = true;
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        meta.answer = hdr.h.flag ? answer_t.YES : answer_t.NO;
        if (meta.was_set) {
            hdr.h.kind = kind_t.LARGE;
        }
        if (meta.answer == answer_t.YES) {
            hdr.h.color = (color_t)8w0xcc;
        }
        hdr.h.flag = !hdr.h.flag;
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

#include "main.p4"
