// Unions are equal if all of their members are, stacks if all of their elements are; two headers
// that are not valid are equal.
#include <core.p4>
#include <v1model.p4>

header shape_t {
    // Zero stands for an invalid header, the highest bit of a union for its second member.
    bit<8> left_union;
    bit<8> right_union;
    bit<8> left_element;
    bit<8> right_element;
}

header one_t {
    bit<8> v;
}

header two_t {
    bit<8> v;
    bit<8> w;
}

header_union either_t {
    one_t one;
    two_t two;
}

header result_t {
    bit<8> unions;
    bit<8> stacks;
}

struct headers_t {
    shape_t shape;
    result_t result;
}

struct metadata_t {
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.shape);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    either_t left;
    either_t right;
    one_t[2] lefts;
    one_t[2] rights;

    apply {
        std.egress_spec = 1;
        if (hdr.shape.left_union[7:7] == 1) {
            left.two = { hdr.shape.left_union, 0 };
        } else if (hdr.shape.left_union != 0) {
            left.one = { hdr.shape.left_union };
        }
        if (hdr.shape.right_union[7:7] == 1) {
            right.two = { hdr.shape.right_union, 0 };
        } else if (hdr.shape.right_union != 0) {
            right.one = { hdr.shape.right_union };
        }
        if (hdr.shape.left_element != 0) {
            lefts[1] = { hdr.shape.left_element };
        }
        if (hdr.shape.right_element != 0) {
            rights[1] = { hdr.shape.right_element };
        }
        hdr.result = { 0, 0 };
        if (left == right) {
            hdr.result.unions = 1;
        }
        if (lefts == rights) {
            hdr.result.stacks = 1;
        }
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
