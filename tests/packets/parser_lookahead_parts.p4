// A struct with headers and a stack is looked at before its headers are extracted.
#include <core.p4>
#include <v1model.p4>

header kind_t {
    bit<8> kind;
}

header label_t {
    bit<8> value;
}

struct ahead_t {
    kind_t kind;
    label_t[2] labels;
}

struct headers_t {
    kind_t kind;
    label_t[2] labels;
}

struct metadata_t {
    bit<8> note;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        ahead_t ahead = packet.lookahead<ahead_t>();
        meta.note = ahead.kind.kind + ahead.labels[1].value;
        transition select(ahead.kind.kind, ahead.labels[0].value, ahead.kind.isValid()) {
            (1, 7, true): extract_one;
            (1, _, _): extract_all;
            default: reject;
        }
    }
    state extract_one {
        packet.extract(hdr.kind);
        transition accept;
    }
    state extract_all {
        packet.extract(hdr.kind);
        packet.extract(hdr.labels.next);
        packet.extract(hdr.labels.next);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.kind.kind = meta.note;
        hdr.labels[0].value = 0;
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

#include "main.p4"
