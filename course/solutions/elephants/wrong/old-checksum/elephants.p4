// Wrong on purpose, see refused.yaml.

#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8>  TCP = 6;
const bit<8>  UDP = 17;

// A flow is an elephant from its 20th packet on, and its packets leave with this DSCP.
const bit<32> ELEPHANT = 20;
const bit<6>  MARK = 46;

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> total_len;
    bit<16> identification;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> hdr_checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

// TCP and UDP begin alike.
header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ports_t    ports;
}

struct metadata_t { }

parser parse_packet(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
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
            TCP: parse_ports;
            UDP: parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    // Three rows of 256 counters.
    register<bit<32>>(256) row_0;
    register<bit<32>>(256) row_1;
    register<bit<32>>(256) row_2;

    apply {
        standard_metadata.egress_spec = 1;
        if (hdr.ports.isValid()) {
            bit<32> wide;
            bit<16> narrow;
            hash(wide, HashAlgorithm.crc32, 32w0,
                 { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, hdr.ports.src,
                   hdr.ports.dst }, 64w0x100000000);
            hash(narrow, HashAlgorithm.crc16, 16w0,
                 { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, hdr.ports.src,
                   hdr.ports.dst }, 32w0x10000);
            // Different bits of one good hash are as good as different hashes.
            bit<32> at_0 = wide & 0xff;
            bit<32> at_1 = (wide >> 16) & 0xff;
            bit<32> at_2 = (bit<32>)(narrow & 0xff);
            bit<32> count_0;
            bit<32> count_1;
            bit<32> count_2;
            row_0.read(count_0, at_0);
            row_1.read(count_1, at_1);
            row_2.read(count_2, at_2);
            count_0 = count_0 + 1;
            count_1 = count_1 + 1;
            count_2 = count_2 + 1;
            row_0.write(at_0, count_0);
            row_1.write(at_1, count_1);
            row_2.write(at_2, count_2);
            bit<32> least = count_0;
            if (count_1 < least) { least = count_1; }
            if (count_2 < least) { least = count_2; }
            if (least >= ELEPHANT) {
                hdr.ipv4.dscp = MARK;
            }
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { }
}

control update_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

V1Switch(parse_packet(), verify_nothing(), ingress(), egress(), update_checksums(), deparse()) main;
