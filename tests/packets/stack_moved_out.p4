// Elements that push_front and pop_front move out of a stack stay behind in the headers they make
// invalid.
//
// P4 leaves open what reading an invalid header yields. In simple_switch elements change places, so
// a program that reads them anyway does the same on both switches.
#include <core.p4>
#include <v1model.p4>

header label_t {
    bit<8> value;
}

header order_t {
    bit<8> what;
    bit<8> first;
    bit<8> second;
    bit<8> third;
}

struct headers_t {
    order_t    order;
    label_t[3] labels;
}

struct metadata_t {
    bit<8> note;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.order);
        packet.extract(hdr.labels.next);
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
        if (hdr.order.what == 1) {
            hdr.labels.pop_front(1);
        } else if (hdr.order.what == 2) {
            hdr.labels.pop_front(2);
        } else if (hdr.order.what == 3) {
            hdr.labels.push_front(1);
        } else {
            hdr.labels.push_front(2);
        }
        hdr.order.first = hdr.labels[0].value;
        hdr.order.second = hdr.labels[1].value;
        hdr.order.third = hdr.labels[2].value;
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.order);
        packet.emit(hdr.labels);
    }
}

#include "main.p4"
