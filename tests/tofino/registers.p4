// RegisterActions with bodies of their own: a counter with output, a cell of two fields, and a
// count-min row by a hash.

#include <core.p4>
#include <tna.p4>

header work_h {
    bit<8> index;
    bit<8> value;
    bit<16> count;      // packets of this index so far
    bit<16> largest;    // the largest value of this index so far
    bit<16> previous;   // the value of the last packet of this index
    bit<16> sketch;     // packets of this value so far
    bit<8> bounded;     // what is left of 2 when each packet takes 1, never below 0
}

struct headers_t {
    work_h work;
}

struct empty_t {}

struct pair_t {
    bit<16> largest;
    bit<16> last;
}

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
    Register<bit<16>, bit<8>>(256, 0) counts;
    RegisterAction<bit<16>, bit<8>, bit<16>>(counts) count = {
        void apply(inout bit<16> value, out bit<16> result) {
            value = value + 1;
            result = value;
        }
    };

    Register<pair_t, _>(32w256) pairs;
    RegisterAction<pair_t, bit<8>, bit<16>>(pairs) note = {
        void apply(inout pair_t pair, out bit<16> previous) {
            previous = pair.last;
            if ((bit<16>)hdr.work.value > pair.largest) {
                pair.largest = (bit<16>)hdr.work.value;
            }
            pair.last = (bit<16>)hdr.work.value;
        }
    };
    RegisterAction<pair_t, bit<8>, bit<16>>(pairs) look = {
        void apply(inout pair_t pair, out bit<16> largest) {
            largest = pair.largest;
        }
    };

    Hash<bit<10>>(HashAlgorithm_t.CRC16) hash;
    Register<bit<16>, bit<10>>(1024) row;
    RegisterAction<bit<16>, bit<10>, bit<16>>(row) add = {
        void apply(inout bit<16> value, out bit<16> result) {
            value = value |+| 1;
            result = value;
        }
    };

    Register<bit<8>, bit<1>>(1, 2) budget;
    RegisterAction<bit<8>, bit<1>, bit<8>>(budget) spend = {
        void apply(inout bit<8> value, out bit<8> result) {
            value = value |-| 1;
            result = value;
        }
    };

    Register<bit<16>, _>(256) sums;
    RegisterAction<bit<16>, _, void>(sums) collect = {
        void apply(inout bit<16> sum) {
            sum = sum + (bit<16>)hdr.work.value;
        }
    };

    apply {
        collect.execute(hdr.work.index);
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        ig_tm_md.bypass_egress = 1;
        hdr.work.count = count.execute(hdr.work.index);
        hdr.work.previous = note.execute(hdr.work.index);
        hdr.work.largest = look.execute(hdr.work.index);
        hdr.work.sketch = add.execute(hash.get({ hdr.work.value }));
        hdr.work.bounded = spend.execute(0);
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
