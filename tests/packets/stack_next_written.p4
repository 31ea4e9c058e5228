// `next` names the element that the next extract fills; writing to it does not move it on.
#include <core.p4>
#include <v1model.p4>

header label_t {
    bit<8> value;
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
        hdr.labels.next.setValid();
        hdr.labels.next.value = 0x55;
        meta.note = hdr.labels[1].value;
        transition select(hdr.labels.last.value) {
            0x01: again;
            default: accept;
        }
    }
    state again {
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
        hdr.labels[2].setValid();
        hdr.labels[2].value = meta.note;
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
