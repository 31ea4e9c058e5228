// Cells that belong to entries of a table, and moving averages: DirectRegister, Lpf and Wred, direct
// and by index. A resubmitted header has one bit.

#include <core.p4>
#include <tna.p4>

header work_h {
    bit<8> key;
    bit<8> sample;
    bit<16> count;      // packets of this entry so far
    bit<16> least;      // the smallest sample of this entry
    bit<16> average;    // of this entry's samples, and of all
    bit<16> overall;
    bit<8> drops;       // 1 if the average is above the threshold of a direct WRED; of an indirect one
    bit<8> drops_by_index;
    bit<8> again;       // 1 after a resubmission
}

header again_h {
    bit<1> flag;
}

struct headers_t {
    work_h work;
}

struct empty_t {}

struct ingress_t {
    again_h again;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            1: resubmitted;
            default: received;
        }
    }
    // One byte for the header's bit, seven that fill up the place of the port metadata.
    state resubmitted {
        pkt.extract(meta.again);
        pkt.advance(PORT_METADATA_SIZE - 8);
        pkt.extract(hdr.work);
        hdr.work.again = 7w0 ++ meta.again.flag;
        transition accept;
    }
    state received {
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.work);
        meta.again.setInvalid();
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout ingress_t meta,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectRegister<bit<16>>(10) counts;
    DirectRegisterAction<bit<16>, bit<16>>(counts) count = {
        void apply(inout bit<16> value, out bit<16> result) {
            value = value + 1;
            result = value;
        }
    };
    DirectRegister<bit<16>>(0xffff) smallest;
    DirectRegisterAction<bit<16>, bit<16>>(smallest) note = {
        void apply(inout bit<16> value, out bit<16> result) {
            value = min(value, (bit<16>)hdr.work.sample);
            result = value;
        }
    };
    action tally() {
        hdr.work.count = count.execute();
    }
    table tallies {
        key = { hdr.work.key: exact; }
        actions = { tally; NoAction; }
        const default_action = tally;
        registers = counts;
        size = 4;
    }
    action lowest() {
        hdr.work.least = note.execute();
    }
    table minima {
        key = { hdr.work.key: ternary; }
        actions = { lowest; NoAction; }
        const default_action = NoAction;
        registers = smallest;
        size = 4;
    }

    DirectLpf<bit<16>>() average;
    Lpf<bit<16>, bit<4>>(16) overall;
    action smooth() {
        hdr.work.average = average.execute((bit<16>)hdr.work.sample);
        hdr.work.overall = overall.execute((bit<16>)hdr.work.sample, 3);
    }
    table averages {
        key = { hdr.work.key: exact; }
        actions = { smooth; NoAction; }
        const default_action = NoAction;
        filters = average;
        size = 4;
    }

    DirectWred<bit<16>>(1, 0) direct;
    Wred<bit<16>, bit<4>>(16, 8w200, 8w100) indirect;
    action decide(bit<4> index) {
        hdr.work.drops = direct.execute((bit<16>)hdr.work.sample);
        hdr.work.drops_by_index = indirect.execute((bit<16>)hdr.work.sample, index);
    }
    table thresholds {
        key = { hdr.work.key: exact; }
        actions = { decide; NoAction; }
        const default_action = NoAction;
        filters = direct;
        size = 4;
    }

    apply {
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        ig_tm_md.bypass_egress = 1;
        if (hdr.work.key == 9 && ig_intr_md.resubmit_flag == 0) {
            meta.again.setValid();
            meta.again.flag = 1;
            ig_dprsr_md.resubmit_type = 1;
        } else {
            tallies.apply();
            minima.apply();
            averages.apply();
            thresholds.apply();
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in ingress_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Resubmit() resubmit;
    apply {
        if (ig_dprsr_md.resubmit_type == 1) {
            resubmit.emit(meta.again);
        }
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
