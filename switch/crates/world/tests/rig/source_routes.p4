// A program whose packets say what shall happen to them, router by router: for the tests of worlds.
//
// A packet begins with a list of orders. Each router takes the first one off and carries it out; a
// packet without orders is dropped.

#include <core.p4>
#include <v1model.p4>

const bit<8> FORWARD = 0;
const bit<8> MULTICAST = 1;
const bit<8> CLONE = 2;
const bit<8> RESUBMIT = 3;
const bit<8> RECIRCULATE = 4;
const bit<8> DROP_IN_EGRESS = 5;
const bit<8> CLONE_IN_EGRESS = 6;
const bit<8> DIGEST = 7;

header order_t {
    bit<8> what;
    bit<8> port;
    bit<8> class;
    bit<8> unused;
}

struct headers_t {
    order_t order;
}

struct metadata_t {
}

struct message_t {
    bit<8> port;
}

parser parse_packet(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.order);
        transition accept;
    }
}

control no_checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = (bit<9>) hdr.order.port;
        standard_metadata.priority = (bit<3>) hdr.order.class;
        if (!hdr.order.isValid()) {
            mark_to_drop(standard_metadata);
        } else if (hdr.order.what == MULTICAST) {
            standard_metadata.mcast_grp = 1;
        } else if (hdr.order.what == CLONE) {
            clone(CloneType.I2E, 1);
        } else if (hdr.order.what == RESUBMIT && standard_metadata.instance_type == 0) {
            resubmit_preserving_field_list(0);
        } else if (hdr.order.what == DIGEST) {
            digest<message_t>(1, { hdr.order.port });
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.order.what == DROP_IN_EGRESS) {
            mark_to_drop(standard_metadata);
        } else if (hdr.order.what == CLONE_IN_EGRESS && standard_metadata.instance_type == 0) {
            clone(CloneType.E2E, 1);
        } else if (hdr.order.what == RECIRCULATE) {
            recirculate_preserving_field_list(0);
        }
        hdr.order.setInvalid();
    }
}

control deparse_packet(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.order);
    }
}

V1Switch(parse_packet(), no_checksum(), ingress(), egress(), no_checksum(), deparse_packet()) main;
