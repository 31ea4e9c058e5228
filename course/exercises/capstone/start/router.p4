// A router. As it is it sends every packet to its controller, and lets out what that sends.

#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE_ARP  = 0x0806;
const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8>  UDP = 17;
const bit<9>  CPU_PORT = 510;

// The class that goes first: calls, and what the controller sends.
const bit<3>  URGENT = 1;

// Why a packet goes to the controller.
const bit<8> NEIGHBOUR = 1;
const bit<8> LOCAL = 2;
const bit<8> NO_ROUTE = 3;
const bit<8> USED_UP = 4;

@controller_header("packet_in")
header packet_in_t {
    bit<7> padding;
    bit<9> ingress_port;
    bit<8> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<7> padding;
    bit<9> egress_port;
}

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
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

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

struct headers_t {
    packet_in_t  packet_in;
    packet_out_t packet_out;
    ethernet_t   ethernet;
    ipv4_t       ipv4;
    udp_t        udp;
}

struct metadata_t { }

parser parse_packet(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    // What the controller sends has a header in front that says by which port it leaves.
    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition accept;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        // GAP 1: IPv4, and UDP behind it.
        transition accept;
    }
}

control verify_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action to_controller(bit<8> reason) {
        standard_metadata.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.padding = 0;
        hdr.packet_in.ingress_port = standard_metadata.ingress_port;
        hdr.packet_in.reason = reason;
    }

    // GAP 2: tables and actions, with the names that control.py uses.

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            // GAP 3: what is forwarded, what is dropped, what goes up and for which reason; and
            // which class it waits in: standard_metadata.priority, 0 or 1.
            to_controller(NEIGHBOUR);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    // GAP 4: a queue that is never empty only makes everybody wait.
    apply { }
}

control update_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
    }
}

V1Switch(parse_packet(), verify_checksums(), ingress(), egress(), update_checksums(), deparse())
    main;
