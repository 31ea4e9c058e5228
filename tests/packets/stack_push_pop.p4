// push_front makes room, pop_front removes.
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
        if (hdr.labels[0].value == 1) {
            hdr.labels.push_front(1);
            hdr.labels[0].setValid();
            hdr.labels[0].value = 0x10;
            hdr.labels[0].bottom = 0;
        } else {
            hdr.labels.pop_front(1);
        }
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
