// Your address translation, for the Portable Switch Architecture.

#include <core.p4>
#include <psa.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8>  TCP = 6;
const bit<8>  UDP = 17;

// The house is behind port 1, the Internet behind port 2.
const PortId_t INSIDE  = (PortId_t) 1;
const PortId_t OUTSIDE = (PortId_t) 2;

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  dscp_ecn;
    bit<16> total_len;
    bit<16> identification;
    bit<16> flags_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> hdr_checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

// TCP and UDP begin alike; the rest of each follows.
header ports_t {
    bit<16> src;
    bit<16> dst;
}

header tcp_rest_t {
    bit<32> seq_no;
    bit<32> ack_no;
    bit<16> offset_flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header udp_rest_t {
    bit<16> length_bytes;
    bit<16> checksum;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ports_t    ports;
    tcp_rest_t tcp;
    udp_rest_t udp;
}

struct metadata_t {
    // The checksum without what may change.
    bit<16> rest;
}

struct nothing_t {}

parser parse_ingress(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     in psa_ingress_parser_input_metadata_t istd,
                     in nothing_t resubmit_meta, in nothing_t recirculate_meta) {
    InternetChecksum() sum;

    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            TCP: parse_tcp;
            UDP: parse_udp;
            default: accept;
        }
    }

    state parse_tcp {
        packet.extract(hdr.ports);
        packet.extract(hdr.tcp);
        sum.clear();
        sum.subtract({ hdr.tcp.checksum });
        sum.subtract({ hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ports.src, hdr.ports.dst });
        meta.rest = sum.get_state();
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.ports);
        packet.extract(hdr.udp);
        sum.clear();
        sum.subtract({ hdr.udp.checksum });
        sum.subtract({ hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ports.src, hdr.ports.dst });
        meta.rest = sum.get_state();
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta,
                in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    action translate_source(bit<32> addr, bit<16> port) {
        hdr.ipv4.src_addr = addr;
        hdr.ports.src = port;
        send_to_port(ostd, OUTSIDE);
    }

    action translate_destination(bit<32> addr, bit<16> port) {
        hdr.ipv4.dst_addr = addr;
        hdr.ports.dst = port;
        send_to_port(ostd, INSIDE);
    }

    table outbound {
        key = {
            hdr.ipv4.protocol: exact @name("protocol");
            hdr.ipv4.src_addr: exact @name("addr");
            hdr.ports.src:     exact @name("port");
        }
        actions = { translate_source; NoAction; }
        size = 1024;
    }

    table inbound {
        key = {
            hdr.ipv4.protocol: exact @name("protocol");
            hdr.ipv4.dst_addr: exact @name("addr");
            hdr.ports.dst:     exact @name("port");
        }
        actions = { translate_destination; NoAction; }
        size = 1024;
    }

    apply {
        if (hdr.ports.isValid()) {
            if (istd.ingress_port == INSIDE) {
                outbound.apply();
            } else {
                inbound.apply();
            }
        }
    }
}

control deparse_ingress(packet_out packet, out nothing_t clone_i2e_meta,
                        out nothing_t resubmit_meta, out nothing_t normal_meta,
                        inout headers_t hdr, in metadata_t meta,
                        in psa_ingress_output_metadata_t istd) {
    InternetChecksum() sum;

    apply {
        if (hdr.ipv4.isValid()) {
            sum.clear();
            sum.add({ hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp_ecn, hdr.ipv4.total_len,
                      hdr.ipv4.identification, hdr.ipv4.flags_offset,
                      hdr.ipv4.ttl, hdr.ipv4.protocol,
                      hdr.ipv4.src_addr, hdr.ipv4.dst_addr });
            hdr.ipv4.hdr_checksum = sum.get();
        }
        if (hdr.tcp.isValid()) {
            sum.set_state(meta.rest);
            sum.add({ hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ports.src, hdr.ports.dst });
            hdr.tcp.checksum = sum.get();
        }
        if (hdr.udp.isValid()) {
            // 0 says that there is none; one that comes out as 0 is written as all ones.
            if (hdr.udp.isValid()) {
                sum.set_state(meta.rest);
                sum.add({ hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ports.src, hdr.ports.dst });
                hdr.udp.checksum = sum.get();
                if (hdr.udp.checksum == 0) {
                    hdr.udp.checksum = 0xffff;
                }
            }
        }
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
    }
}

// Behind the queue nothing is left to do: the whole packet is payload there.
parser parse_egress(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    in psa_egress_parser_input_metadata_t istd, in nothing_t normal_meta,
                    in nothing_t clone_i2e_meta, in nothing_t clone_e2e_meta) {
    state start {
        transition accept;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply { }
}

control deparse_egress(packet_out packet, out nothing_t clone_e2e_meta,
                       out nothing_t recirculate_meta, inout headers_t hdr, in metadata_t meta,
                       in psa_egress_output_metadata_t istd,
                       in psa_egress_deparser_input_metadata_t edstd) {
    apply { }
}

PSA_Switch(IngressPipeline(parse_ingress(), ingress(), deparse_ingress()),
           PacketReplicationEngine(),
           EgressPipeline(parse_egress(), egress(), deparse_egress()),
           BufferingQueueingEngine()) main;
