// Tofino 2: longer port metadata, of which a short resubmitted header leaves zeros, and queueing
// metadata of other widths. A bridged header of nine bits, whose layout is the compiler's.

#include <core.p4>
#include <t2na.p4>

header short_h {
    bit<16> value;
}

header rest_h {
    bit<176> zeros;
}

header note_h {
    bit<16> value;
    bit<8> zeros_are_left;
}

header bridge_h {
    @flexible bit<9> port;
}

struct headers_t {
    bridge_h bridge;
    note_h note;
}

struct bridged_t {
    bridge_h bridge;
}

struct metadata_t {
    bit<16> value;
    bool is_clean;
}

struct empty_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        meta.value = 0;
        meta.is_clean = false;
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            1: parse_resubmit;
            default: parse_port_metadata;
        }
    }
    state parse_resubmit {
        short_h resubmitted;
        rest_h rest;
        pkt.extract(resubmitted);
        pkt.extract(rest);
        meta.value = resubmitted.value;
        meta.is_clean = rest.zeros == 0;
        transition parse_note;
    }
    state parse_port_metadata {
        pkt.advance(PORT_METADATA_SIZE);
        transition parse_note;
    }
    state parse_note {
        pkt.extract(hdr.note);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t meta,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Counter<bit<32>, bit<1>>(2, CounterType_t.PACKETS, true) passes;

    apply {
        ig_tm_md.ucast_egress_port = 2;
        passes.count(ig_intr_md.resubmit_flag);
        hdr.bridge.setValid();
        hdr.bridge.port = ig_intr_md.ingress_port;
        if (ig_intr_md.resubmit_flag == 0) {
            ig_dprsr_md.resubmit_type = 1;
        } else {
            hdr.note.value = meta.value;
            hdr.note.zeros_are_left = meta.is_clean ? 8w1 : 0;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Resubmit() resubmit;

    apply {
        if (ig_dprsr_md.resubmit_type == 1) {
            resubmit.emit<short_h>({ hdr.note.value + 1 });
        }
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out bridged_t hdr, out empty_t meta,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.bridge);
        transition accept;
    }
}

control Egress(inout bridged_t hdr, inout empty_t meta,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        // 0x101 needs all nine bits.
        if (hdr.bridge.port != 0x101) {
            eg_dprsr_md.drop_ctl = 1;
        }
    }
}

control EgressDeparser(packet_out pkt, inout bridged_t hdr, in empty_t meta,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
