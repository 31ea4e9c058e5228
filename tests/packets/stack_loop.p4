// A stack filled in a loop, its last element read.
#include <core.p4>
#include <v1model.p4>

header label_t {
    bit<7> value;
    bit<1> bottom;
}

struct headers_t {
    label_t[3] labels;
}

struct metadata_t {
    bit<8> note;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.labels.next);
        meta.note = (bit<8>)hdr.labels.lastIndex;
        transition select(hdr.labels.last.bottom) {
            0: start;
            default: accept;
        }
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.labels[0].value = hdr.labels[0].value + 1;
        std.egress_spec = (bit<9>)meta.note;
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.labels);
    }
}

#include "main.p4"
