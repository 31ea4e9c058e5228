// Every way that a packet can go on Tofino. The first byte of a packet chooses it; each stage
// writes what it saw into the bytes behind.

#include <core.p4>
#include <tna.p4>

const MirrorType_t MIRROR_INGRESS = 1;
const MirrorType_t MIRROR_EGRESS = 2;
const bit<8> FROM_INGRESS = 0xb1;
const bit<8> MIRRORED = 0xc1;

header way_h {
    bit<8> way;
    bit<8> ingress;     // the port in ingress, plus 0x80 if resubmitted
    bit<8> egress;      // the port in egress
    bit<8> bridged;     // the kind of header in front of the packet in egress
}

header bridge_h {
    bit<8> kind;
    bit<8> value;
}

header resubmit_h {
    bit<64> value;
}

struct headers_t {
    bridge_h bridge;
    way_h way;
}

struct ingress_t {
    bit<8> resubmitted;
    MirrorId_t session;
}

struct egress_t {
    bridge_h bridge;
    MirrorId_t session;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        meta.resubmitted = 0;
        meta.session = 0;
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            1: parse_resubmit;
            default: parse_port_metadata;
        }
    }
    state parse_resubmit {
        resubmit_h resubmitted;
        pkt.extract(resubmitted);
        meta.resubmitted = resubmitted.value[7:0];
        transition parse_way;
    }
    state parse_port_metadata {
        pkt.advance(PORT_METADATA_SIZE);
        transition parse_way;
    }
    state parse_way {
        pkt.extract(hdr.way);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout ingress_t meta,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = 2;
        hdr.way.ingress = ig_intr_md.ingress_port[7:0];
        hdr.bridge.setValid();
        hdr.bridge.kind = FROM_INGRESS;
        hdr.bridge.value = hdr.way.way;
        if (hdr.way.way == 2) {
            ig_dprsr_md.drop_ctl = 1;
        } else if (hdr.way.way == 3) {
            ig_tm_md.mcast_grp_a = 1;
        } else if (hdr.way.way == 4) {
            ig_dprsr_md.mirror_type = MIRROR_INGRESS;
            meta.session = 5;
        } else if (hdr.way.way == 5) {
            if (ig_intr_md.resubmit_flag == 0) {
                ig_dprsr_md.resubmit_type = 2;
            } else {
                hdr.way.ingress = meta.resubmitted;
            }
        } else if (hdr.way.way == 6) {
            // Round once by the port that sends packets back.
            if (ig_intr_md.ingress_port != 68) {
                ig_tm_md.ucast_egress_port = 68;
            }
        } else if (hdr.way.way == 7) {
            ig_tm_md.bypass_egress = 1;
            hdr.bridge.setInvalid();
        } else if (hdr.way.way == 9) {
            // Dropped, but mirrored.
            ig_dprsr_md.drop_ctl = 1;
            ig_dprsr_md.mirror_type = MIRROR_INGRESS;
            meta.session = 5;
        } else if (hdr.way.way == 10) {
            // Neither the packet nor its mirror.
            ig_dprsr_md.drop_ctl = 5;
            ig_dprsr_md.mirror_type = MIRROR_INGRESS;
            meta.session = 5;
        } else if (hdr.way.way == 11) {
            // A port that is set last wins, whatever it was before.
            ig_tm_md.ucast_egress_port = 4;
        } else if (hdr.way.way == 14) {
            // Everything at once: the port, both groups and the CPU.
            ig_tm_md.mcast_grp_a = 1;
            ig_tm_md.mcast_grp_b = 2;
            ig_tm_md.copy_to_cpu = 1;
        } else if (hdr.way.way == 15) {
            // A copy to the CPU of a packet that is dropped, and none where that is off.
            ig_tm_md.copy_to_cpu = 1;
            ig_dprsr_md.drop_ctl = 1;
        } else if (hdr.way.way == 16) {
            ig_tm_md.copy_to_cpu = 1;
            ig_dprsr_md.drop_ctl = 2;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in ingress_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Mirror() mirror;
    Resubmit() resubmit;

    apply {
        if (ig_dprsr_md.mirror_type == MIRROR_INGRESS) {
            mirror.emit<bridge_h>(meta.session, { MIRRORED, hdr.way.way });
        }
        if (ig_dprsr_md.resubmit_type == 2) {
            resubmit.emit<resubmit_h>({ 0x5e });
        }
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out egress_t meta,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        meta.session = 0;
        pkt.extract(eg_intr_md);
        pkt.extract(meta.bridge);
        pkt.extract(hdr.way);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout egress_t meta,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        hdr.way.egress = eg_intr_md.egress_port[7:0];
        hdr.way.bridged = meta.bridge.kind;
        if (meta.bridge.kind == FROM_INGRESS) {
            if (hdr.way.way == 3 || hdr.way.way == 14) {
                hdr.way.bridged = eg_intr_md.egress_rid[7:0];
            } else if (hdr.way.way == 8) {
                eg_dprsr_md.mirror_type = MIRROR_EGRESS;
                meta.session = 5;
            } else if (hdr.way.way == 12) {
                eg_dprsr_md.drop_ctl = 1;
            } else if (hdr.way.way == 13) {
                hdr.way.bridged = eg_intr_md.pkt_length[7:0];
            }
        }
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in egress_t meta,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror() mirror;

    apply {
        if (eg_dprsr_md.mirror_type == MIRROR_EGRESS) {
            mirror.emit<bridge_h>(meta.session, { MIRRORED, 0 });
        }
        pkt.emit(hdr.way);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
