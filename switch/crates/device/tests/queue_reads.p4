// A program whose packets read the state of a queue and carry the numbers out of the router.

#include <core.p4>
#include <v1model.p4>
#include <vitrine.p4>

const bit<8> QUEUE_DEPTH = 1;
const bit<8> VOQ_DEPTH = 2;
const bit<8> BUFFER_USE = 3;
const bit<8> PORT_RATE = 4;
const bit<8> IN_ACTION = 5;

header question_t {
    bit<8>  what;
    bit<8>  out_port;
    bit<8>  input;
    bit<8>  port;
    bit<8>  class;
    bit<64> first;
    bit<32> second;
}

struct headers_t {
    question_t question;
}

struct metadata_t {
}

parser parse_packet(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.question);
        transition accept;
    }
}

control no_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    bit<32> packets = 0;
    bit<32> bytes = 0;
    bit<16> busy = 0;

    action of_own_port(bit<8> class) {
        queue_depth(standard_metadata.ingress_port, class, packets, bytes);
        hdr.question.first = (bit<64>)packets;
        hdr.question.second = bytes;
    }

    table own {
        actions = {
            of_own_port;
        }
        default_action = of_own_port(0);
    }

    apply {
        standard_metadata.egress_spec = (bit<9>)hdr.question.out_port;
        bit<9> input = (bit<9>)hdr.question.input;
        bit<9> port = (bit<9>)hdr.question.port;
        if (hdr.question.what == QUEUE_DEPTH) {
            // One result goes to a variable, the other to a field of a header.
            queue_depth(port, hdr.question.class, packets, hdr.question.second);
            hdr.question.first = (bit<64>)packets;
        } else if (hdr.question.what == VOQ_DEPTH) {
            voq_depth(input, port, hdr.question.class, packets, bytes);
            hdr.question.first = (bit<64>)packets;
            hdr.question.second = bytes;
        } else if (hdr.question.what == BUFFER_USE) {
            // Slices are copied out from temporary fields.
            buffer_use(hdr.question.first[31:0], hdr.question.second);
        } else if (hdr.question.what == PORT_RATE) {
            port_rate(port, hdr.question.first, busy);
            hdr.question.second = (bit<32>)busy;
        } else if (hdr.question.what == IN_ACTION) {
            own.apply();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { }
}

control deparse_packet(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.question);
    }
}

V1Switch(parse_packet(), no_checksums(), ingress(), egress(), no_checksums(),
         deparse_packet()) main;
