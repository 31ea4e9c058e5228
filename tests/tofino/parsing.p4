// Parser counters: a list of items by their number, a length in a field of four bits turned into
// bytes, and a counter that becomes negative.

#include <core.p4>
#include <tna.p4>

header start_h {
    bit<8> what;
    bit<4> unused;
    bit<4> length;
}

header item_h {
    bit<8> value;
}

struct headers_t {
    start_h start;
    item_h[16] items;
    item_h behind;
}

struct empty_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out empty_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    ParserCounter() counter;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.start);
        transition select(hdr.start.what) {
            1: by_number;
            2: by_words;
            3: by_twos;
            default: reject;
        }
    }
    state by_number {
        counter.set(hdr.start.length);
        transition next_item;
    }
    // Words of four bytes, at most four, without the first: turned right by 6 of 8 bits is left by 2.
    state by_words {
        counter.set(hdr.start.length, 4, 6, 5, 0xfc);
        transition next_item;
    }
    state next_item {
        transition select(counter.is_zero()) {
            true: parse_behind;
            false: parse_item;
        }
    }
    state parse_item {
        pkt.extract(hdr.items.next);
        counter.decrement(1);
        transition next_item;
    }
    // An item for each two, and one more for the last, however large.
    state by_twos {
        counter.set(8w0);
        counter.increment((bit<8>)hdr.start.length);
        transition parse_two;
    }
    state parse_two {
        pkt.extract(hdr.items.next);
        counter.decrement(2);
        transition select(counter.is_negative()) {
            true: parse_behind;
            false: parse_two;
        }
    }
    state parse_behind {
        pkt.extract(hdr.behind);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout empty_t meta,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = 2;
        ig_tm_md.bypass_egress = 1;
        hdr.behind.value = 0xff;
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
