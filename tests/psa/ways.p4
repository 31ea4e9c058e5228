// Every way of a packet through a switch of PSA: what it is called, and what goes along with it.
#include <psa.p4>

header h_t {
    bit<8> what;        // The requested action.
    bit<8> path_in;     // How it came to ingress.
    bit<8> path_out;    // How it came to egress.
    bit<8> mark;        // The metadata that reached egress.
}

struct headers_t { h_t h; }
struct metadata_t { bit<8> mark; }
struct way_t { bit<8> mark; }

bit<8> number(in PSA_PacketPath_t path) {
    if (path == PSA_PacketPath_t.NORMAL) { return 1; }
    if (path == PSA_PacketPath_t.NORMAL_UNICAST) { return 2; }
    if (path == PSA_PacketPath_t.NORMAL_MULTICAST) { return 3; }
    if (path == PSA_PacketPath_t.CLONE_I2E) { return 4; }
    if (path == PSA_PacketPath_t.CLONE_E2E) { return 5; }
    if (path == PSA_PacketPath_t.RESUBMIT) { return 6; }
    if (path == PSA_PacketPath_t.RECIRCULATE) { return 7; }
    return 0;
}

parser read_in(packet_in buffer, out headers_t hdr, inout metadata_t meta,
               in psa_ingress_parser_input_metadata_t istd,
               in way_t resubmit_meta, in way_t recirculate_meta) {
    state start {
        buffer.extract(hdr.h);
        transition select(istd.packet_path) {
            PSA_PacketPath_t.RESUBMIT: resubmitted;
            PSA_PacketPath_t.RECIRCULATE: recirculated;
            default: fresh;
        }
    }
    state fresh {
        meta.mark = 0xa1;
        transition accept;
    }
    state resubmitted {
        meta.mark = resubmit_meta.mark;
        transition accept;
    }
    state recirculated {
        meta.mark = recirculate_meta.mark;
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    apply {
        hdr.h.path_in = number(istd.packet_path);
        bool is_first = istd.packet_path == PSA_PacketPath_t.NORMAL;
        if (hdr.h.what == 2) {
            multicast(ostd, (MulticastGroup_t) 1);
        } else if (hdr.h.what == 5 && is_first) {
            send_to_port(ostd, PSA_PORT_RECIRCULATE);
        } else if (hdr.h.what != 7) {
            send_to_port(ostd, (PortId_t) 2);
        }
        if (hdr.h.what == 3 || hdr.h.what == 7) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 5;
        }
        ostd.resubmit = hdr.h.what == 4 && is_first;
    }
}

control write_in(packet_out buffer, out way_t clone_i2e_meta, out way_t resubmit_meta,
                 out way_t normal_meta, inout headers_t hdr, in metadata_t meta,
                 in psa_ingress_output_metadata_t istd) {
    apply {
        if (psa_clone_i2e(istd)) { clone_i2e_meta.mark = 0xc1; }
        if (psa_resubmit(istd)) { resubmit_meta.mark = 0x5e; }
        if (psa_normal(istd)) { normal_meta.mark = meta.mark; }
        buffer.emit(hdr.h);
    }
}

parser read_out(packet_in buffer, out headers_t hdr, inout metadata_t meta,
                in psa_egress_parser_input_metadata_t istd,
                in way_t normal_meta, in way_t clone_i2e_meta, in way_t clone_e2e_meta) {
    state start {
        buffer.extract(hdr.h);
        transition select(istd.packet_path) {
            PSA_PacketPath_t.CLONE_I2E: cloned_in;
            PSA_PacketPath_t.CLONE_E2E: cloned_out;
            default: normal;
        }
    }
    state cloned_in {
        meta.mark = clone_i2e_meta.mark;
        transition accept;
    }
    state cloned_out {
        meta.mark = clone_e2e_meta.mark;
        transition accept;
    }
    state normal {
        meta.mark = normal_meta.mark;
        transition accept;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
        hdr.h.path_out = number(istd.packet_path);
        hdr.h.mark = meta.mark;
        if (hdr.h.what == 6 && istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 5;
        }
        if (hdr.h.what == 8) { egress_drop(ostd); }
    }
}

control write_out(packet_out buffer, out way_t clone_e2e_meta, out way_t recirculate_meta,
                  inout headers_t hdr, in metadata_t meta, in psa_egress_output_metadata_t istd,
                  in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        if (psa_clone_e2e(istd)) { clone_e2e_meta.mark = 0xe2; }
        if (psa_recirculate(istd, edstd)) { recirculate_meta.mark = 0x7c; }
        buffer.emit(hdr.h);
    }
}

PSA_Switch(IngressPipeline(read_in(), ingress(), write_in()), PacketReplicationEngine(),
           EgressPipeline(read_out(), egress(), write_out()), BufferingQueueingEngine()) main;
