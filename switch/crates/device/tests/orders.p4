// A program whose packets say what shall happen to them: for the tests of the device.
//
// The first header is an order; the program carries it out and, in egress, writes into the packet
// what v1model told it of the queue.

#include <core.p4>
#include <v1model.p4>

const bit<8> FORWARD = 0;
const bit<8> DROP = 1;
const bit<8> MULTICAST = 2;
const bit<8> CLONE = 3;
const bit<8> RESUBMIT_ONCE = 4;
const bit<8> RECIRCULATE_ONCE = 5;
const bit<8> DROP_IN_EGRESS = 6;
const bit<8> CLONE_IN_EGRESS = 7;
const bit<8> DIGEST = 8;
const bit<8> RESUBMIT_FOREVER = 9;
const bit<8> SHORTEN = 10;
const bit<8> CLONE_FOREVER = 11;
const bit<8> MULTIPLY = 12;
const bit<8> TELL_UTILISATION = 13;

header order_t {
    bit<8>  what;
    bit<8>  port;
    bit<8>  class;
    bit<8>  instance_type;
    bit<16> enq_qdepth;
    bit<16> deq_qdepth;
    bit<32> deq_timedelta;
}

header extra_t {
    bit<320> bytes;
}

struct headers_t {
    order_t order;
    extra_t extra;
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
        transition select(hdr.order.what) {
            SHORTEN: parse_extra;
            default: accept;
        }
    }
    state parse_extra {
        packet.extract(hdr.extra);
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
        // Only ingress sees that a packet was recirculated: unicast makes it a normal one.
        if (standard_metadata.instance_type == 4 && hdr.order.what != MULTIPLY) {
            hdr.order.what = FORWARD;
        }
        standard_metadata.egress_spec = (bit<9>) hdr.order.port;
        standard_metadata.priority = (bit<3>) hdr.order.class;
        standard_metadata.drop_precedence = hdr.order.class[1:0];
        if (hdr.order.what == DROP) {
            mark_to_drop(standard_metadata);
        } else if (hdr.order.what == MULTICAST || hdr.order.what == MULTIPLY) {
            standard_metadata.mcast_grp = (bit<16>) hdr.order.port;
        } else if (hdr.order.what == CLONE) {
            clone(CloneType.I2E, 1);
        } else if (hdr.order.what == RESUBMIT_ONCE && standard_metadata.instance_type == 0) {
            resubmit_preserving_field_list(0);
        } else if (hdr.order.what == RESUBMIT_FOREVER) {
            resubmit_preserving_field_list(0);
        } else if (hdr.order.what == DIGEST) {
            digest<message_t>(1, { hdr.order.port });
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply {
        bit<32> kind = standard_metadata.instance_type;
        hdr.order.instance_type = (bit<8>) kind;
        hdr.order.enq_qdepth = (bit<16>) standard_metadata.enq_qdepth;
        hdr.order.deq_qdepth = (bit<16>) standard_metadata.deq_qdepth;
        hdr.order.deq_timedelta = standard_metadata.deq_timedelta;
        if (kind == 7) {
            // Of a drop: why, and at which port and class.
            hdr.order.enq_qdepth = (bit<16>) standard_metadata.drop_reason;
            hdr.order.deq_qdepth =
                standard_metadata.drop_port[7:0] ++ standard_metadata.drop_qid;
        }
        if (hdr.order.what == TELL_UTILISATION) {
            hdr.order.enq_qdepth = standard_metadata.port_utilisation;
        }
        if (hdr.order.what == DROP_IN_EGRESS) {
            mark_to_drop(standard_metadata);
        } else if (hdr.order.what == CLONE_IN_EGRESS && kind == 0) {
            clone(CloneType.E2E, 1);
        } else if (hdr.order.what == CLONE_FOREVER) {
            clone(CloneType.E2E, 1);
        } else if (hdr.order.what == RECIRCULATE_ONCE || hdr.order.what == MULTIPLY) {
            recirculate_preserving_field_list(0);
        } else if (hdr.order.what == SHORTEN) {
            hdr.extra.setInvalid();
        }
    }
}

control deparse_packet(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.order);
        packet.emit(hdr.extra);
    }
}

V1Switch(parse_packet(), no_checksum(), ingress(), egress(), no_checksum(), deparse_packet()) main;
