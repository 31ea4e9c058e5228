// Source NAT as Tofino programs do it: the header's checksum is verified in the parser and computed
// anew in the deparser; of UDP's, which the payload belongs to, what stays is kept as a residual.

#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_h {
    bit<4> version;
    bit<4> ihl;
    bit<8> diffserv;
    bit<16> total_len;
    bit<16> identification;
    bit<16> flags_and_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> hdr_checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
}

struct metadata_t {
    bool is_wrong;
    bit<16> residual;
}

struct empty_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;
    Checksum() udp_checksum;

    state start {
        meta.is_wrong = false;
        meta.residual = 0;
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            default: reject;
        }
    }
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        meta.is_wrong = ipv4_checksum.verify();
        udp_checksum.subtract({ hdr.ipv4.src_addr });
        transition select(hdr.ipv4.protocol) {
            17: parse_udp;
            default: accept;
        }
    }
    state parse_udp {
        pkt.extract(hdr.udp);
        udp_checksum.subtract({ hdr.udp.src_port, hdr.udp.checksum });
        udp_checksum.subtract_all_and_deposit(meta.residual);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t meta,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) translated;

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }
    action translate(bit<32> address, bit<16> port, PortId_t output) {
        translated.count();
        hdr.ipv4.src_addr = address;
        hdr.udp.src_port = port;
        ig_tm_md.ucast_egress_port = output;
    }
    table nat {
        key = {
            hdr.ipv4.src_addr : exact;
            hdr.udp.src_port : ternary;
        }
        actions = { translate; drop; }
        const default_action = drop();
        const entries = {
            (0x0a000001, 0x1000 &&& 0xf000) : translate(0xc0000201, 0x2222, 2);
        }
        counters = translated;
        size = 16;
    }

    apply {
        ig_tm_md.bypass_egress = 1;
        if (meta.is_wrong) {
            drop();
        } else {
            nat.apply();
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;
    Checksum() udp_checksum;

    apply {
        hdr.ipv4.hdr_checksum = ipv4_checksum.update({
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_len,
            hdr.ipv4.identification, hdr.ipv4.flags_and_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
            hdr.ipv4.src_addr, hdr.ipv4.dst_addr
        });
        hdr.udp.checksum = udp_checksum.update(
            data = { hdr.ipv4.src_addr, hdr.udp.src_port, meta.residual },
            zeros_as_ones = true);
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
