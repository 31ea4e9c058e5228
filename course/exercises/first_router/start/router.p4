// Your router. It compiles as it is, and sends every packet to port 0.
// What is left to write is marked GAP 1 to GAP 5; the handout says what each must do.

#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;

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

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct metadata_t { }

parser parse_packet(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            // GAP 1: IPv4 headers of five words go on to parse_ipv4. All else is left alone.
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control verify_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        // GAP 2: compare the header checksum. What a router must drop says ingress, below.
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action forward(bit<9> port, bit<48> src_addr, bit<48> dst_addr) {
        // GAP 3: the packet leaves by `port`, from `src_addr` to `dst_addr`, one hop older.
    }

    table routes {
        // Name, key, actions and parameters stay as they are: a controller fills the table by them.
        key = { hdr.ipv4.dst_addr: lpm; }
        actions = { forward; drop; }
        default_action = drop();
        size = 1024;
    }

    apply {
        // GAP 4: look up the route of what may be forwarded, drop everything else.
    }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { }
}

control update_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        // GAP 5: compute the header checksum anew.
    }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(parse_packet(), verify_checksums(), ingress(), egress(), update_checksums(), deparse())
    main;
