// Packets to and from the controller: PSA_PORT_CPU is the switch's port to it.
#include <psa.p4>

header h_t {
    bit<8> to_cpu;
    bit<8> from_cpu;
    bit<8> left_to_cpu;
}

struct headers_t { h_t h; }
struct empty_t {}

parser read_in(packet_in buffer, out headers_t hdr, inout empty_t meta,
               in psa_ingress_parser_input_metadata_t istd, in empty_t a, in empty_t b) {
    state start {
        buffer.extract(hdr.h);
        transition select(istd.ingress_port) {
            PSA_PORT_CPU: from_controller;
            default: accept;
        }
    }
    state from_controller {
        hdr.h.from_cpu = 1;
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    apply {
        if (istd.ingress_port == PSA_PORT_CPU) {
            hdr.h.from_cpu = hdr.h.from_cpu + 1;
        }
        if (hdr.h.to_cpu == 1) {
            send_to_port(ostd, PSA_PORT_CPU);
        } else {
            send_to_port(ostd, (PortId_t) 2);
        }
    }
}

control write_in(packet_out buffer, out empty_t a, out empty_t b, out empty_t c,
                 inout headers_t hdr, in empty_t meta, in psa_ingress_output_metadata_t istd) {
    apply { buffer.emit(hdr.h); }
}

parser read_out(packet_in buffer, out headers_t hdr, inout empty_t meta,
                in psa_egress_parser_input_metadata_t istd,
                in empty_t a, in empty_t b, in empty_t c) {
    state start {
        buffer.extract(hdr.h);
        transition accept;
    }
}

control egress(inout headers_t hdr, inout empty_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
        if (istd.egress_port == PSA_PORT_CPU) {
            hdr.h.left_to_cpu = 1;
        }
    }
}

control write_out(packet_out buffer, out empty_t a, out empty_t b, inout headers_t hdr,
                  in empty_t meta, in psa_egress_output_metadata_t istd,
                  in psa_egress_deparser_input_metadata_t edstd) {
    apply { buffer.emit(hdr.h); }
}

PSA_Switch(IngressPipeline(read_in(), ingress(), write_in()), PacketReplicationEngine(),
           EgressPipeline(read_out(), egress(), write_out()), BufferingQueueingEngine()) main;
