// Tables with the implementations of Tofino, and what a controller can change besides entries: groups
// of a selector, and the parameter of a register action.

#include <core.p4>
#include <tna.p4>

header work_h {
    bit<8> what;
    bit<8> index;
    bit<32> address;
    bit<8> result;
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
    action set(bit<8> result) {
        hdr.work.result = result;
    }

    Alpm(number_partitions = 1024, subtrees_per_partition = 2) alpm;
    @stage(3)
    table prefixes {
        key = { hdr.work.address : lpm; }
        actions = { set; }
        const default_action = set(0xff);
        implementation = alpm;
        size = 512;
    }

    Atcam(number_partitions = 16) atcam;
    @pragma stage 4
    table partitions {
        key = {
            hdr.work.index : atcam_partition_index;
            hdr.work.address : ternary;
        }
        actions = { set; }
        const default_action = set(0xff);
        implementation = atcam;
        size = 16;
    }

    Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;
    ActionProfile(size = 4) profile;
    ActionSelector(profile, hash, SelectorMode_t.FAIR, 32w4, 32w2) selector;
    table groups {
        key = {
            hdr.work.index : exact;
            hdr.work.address[31:0] : selector;
        }
        actions = { set; NoAction; }
        implementation = selector;
        size = 4;
    }

    RegisterParam<bit<8>>(3) step;
    Register<bit<8>, bit<8>>(16) steps;
    RegisterAction<bit<8>, bit<8>, bit<8>>(steps) walk = {
        void apply(inout bit<8> value, out bit<8> result) {
            value = value + step.read();
            result = value;
        }
    };

    apply {
        ig_tm_md.ucast_egress_port = 2;
        ig_tm_md.bypass_egress = 1;
        if (hdr.work.what == 1) {
            prefixes.apply();
        } else if (hdr.work.what == 2) {
            partitions.apply();
        } else if (hdr.work.what == 3) {
            groups.apply();
        } else {
            hdr.work.result = walk.execute(hdr.work.index);
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
