// Meters: colours as Tofino numbers them, as the constructor numbers them, a colour that a packet has
// before, and the colour of the entry that a packet matches.

#include <core.p4>
#include <tna.p4>

header work_h {
    bit<8> what;
    bit<8> index;
    bit<8> color;
}

struct headers_t {
    work_h work;
}

struct empty_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out empty_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.work);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout empty_t meta,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Meter<bit<8>>(16, MeterType_t.PACKETS) plain;
    Meter<bit<8>>(16, MeterType_t.PACKETS, 0x33, 0x22, 0x11) numbered;
    DirectMeter(MeterType_t.PACKETS) direct;

    action color() {
        hdr.work.color = direct.execute();
    }
    table colored {
        key = {
            hdr.work.index : exact;
        }
        actions = { color; }
        meters = direct;
        const default_action = color();
        size = 4;
    }

    apply {
        ig_tm_md.ucast_egress_port = 2;
        ig_tm_md.bypass_egress = 1;
        if (hdr.work.what == 1) {
            hdr.work.color = plain.execute(hdr.work.index);
        } else if (hdr.work.what == 2) {
            hdr.work.color = numbered.execute(hdr.work.index);
        } else if (hdr.work.what == 3) {
            hdr.work.color = plain.execute(hdr.work.index, color = MeterColor_t.YELLOW);
        } else if (hdr.work.what == 4) {
            hdr.work.color = plain.execute(hdr.work.index, color = MeterColor_t.RED);
        } else if (hdr.work.what == 5) {
            hdr.work.color = plain.execute(hdr.work.index, adjust_byte_count = 32w4);
        } else {
            colored.apply();
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in empty_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out empty_t hdr, out empty_t meta,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout empty_t hdr, inout empty_t meta,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout empty_t hdr, in empty_t meta,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
