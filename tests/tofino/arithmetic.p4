// MathUnit in its forms, funnel_shift_right, and the predicate of a RegisterAction.

#include <core.p4>
#include <tna.p4>

header work_h {
    bit<32> x;
    bit<32> square;
    bit<32> root;           // 2^16 / sqrt(x), by a factor of 2^16
    bit<32> third;          // x / 3
    bit<32> by_table;       // x * x, the table written out
    bit<32> shifted;        // the bits of x and square, 8 further right
    bit<8> cases;           // of x < 16 and x > 4, as one bit of four
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
    MathUnit<bit<32>>(MathOp_t.SQR, 1) square;
    MathUnit<bit<32>>(MathOp_t.RSQRT, 65536) root;
    MathUnit<bit<32>>(MathOp_t.MUL, 1, 3) third;
    MathUnit<bit<32>>(false, 1, -6, { 225, 196, 169, 144, 121, 100, 81, 64,
                                      0, 0, 0, 0, 0, 0, 0, 0 }) by_table;

    Register<bit<32>, bit<1>>(1) cell;
    RegisterAction<bit<32>, bit<1>, bit<32>>(cell) squared = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = square.execute(hdr.work.x);
            result = value;
        }
    };
    RegisterAction<_, bit<1>, bit<4>>(cell) compare = {
        void apply(@noWarn("unused") inout bit<32> value, out bit<4> result) {
            result = this.predicate(hdr.work.x < 16, hdr.work.x > 4);
        }
    };

    apply {
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        ig_tm_md.bypass_egress = 1;
        hdr.work.square = squared.execute(0);
        hdr.work.root = root.execute(hdr.work.x);
        hdr.work.third = third.execute(hdr.work.x);
        hdr.work.by_table = by_table.execute(hdr.work.x);
        hdr.work.cases = 4w0 ++ compare.execute(0);
        funnel_shift_right(hdr.work.shifted, hdr.work.x, hdr.work.square, 8);
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
