// A tunnel: packets for one network go inside of others, to a router that takes them out again.
//
//   for the tunnel's end:    take the packet inside out -+
//   of a network with a tunnel: put it into another one -+-> ipv4_routes: MACs and port
//   else:                                               -+
//
// IPv4 in IPv4, RFC 2003. The routers between the ends see only the outer header: they run basic.p4 and
// know of no tunnel. A tunnel counts as one hop of the packet inside.
// To try: send the other host through the tunnel, too. Count inner packets. What if the tunnel's end
// sends a packet back into it?

#include <core.p4>
#include <v1model.p4>
#include "../lib/headers.p4"

const bit<8> IP_PROTOCOL_IPV4 = 4;
const bit<4> IHL_WITHOUT_OPTIONS = 5;
const bit<16> OUTER_BYTES = 20;

#define IPV4_FIELDS(ipv4)                                               \
    { ipv4.version, ipv4.ihl, ipv4.dscp, ipv4.ecn, ipv4.total_len,      \
      ipv4.identification, ipv4.reserved, ipv4.dont_fragment,           \
      ipv4.more_fragments, ipv4.frag_offset, ipv4.ttl, ipv4.protocol,   \
      ipv4.src_addr, ipv4.dst_addr }

struct headers_t {
    ethernet_t ethernet;
    // The headers that routers read.
    ipv4_t     ipv4;
    // Inside of a tunnel, the packet's own.
    ipv4_t     inner;
}

struct metadata_t { }

parser parse_packet(packet_in packet,
                    out headers_t hdr,
                    inout metadata_t meta,
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
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (IHL_WITHOUT_OPTIONS, IP_PROTOCOL_IPV4): parse_inner;
            default: accept;
        }
    }

    state parse_inner {
        packet.extract(hdr.inner);
        transition accept;
    }
}

control verify_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == IHL_WITHOUT_OPTIONS,
                        IPV4_FIELDS(hdr.ipv4), hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control tunnel(inout headers_t hdr, inout standard_metadata_t standard_metadata) {
    action take_out() {
        hdr.ipv4 = hdr.inner;
        hdr.inner.setInvalid();
    }

    // Into a packet from one end of the tunnel, `src_addr`, to the other.
    action put_in(ipv4_addr_t src_addr, ipv4_addr_t dst_addr) {
        hdr.inner = hdr.ipv4;
        hdr.ipv4.total_len = hdr.ipv4.total_len + OUTER_BYTES;
        hdr.ipv4.protocol = IP_PROTOCOL_IPV4;
        hdr.ipv4.src_addr = src_addr;
        hdr.ipv4.dst_addr = dst_addr;
    }

    // The addresses of this network at which tunnels end.
    table ends {
        key = {
            hdr.ipv4.dst_addr: exact;
        }
        actions = {
            take_out;
            NoAction;
        }
        const entries = {
            0x0a0004fe: take_out(); // 10.0.4.254
        }
        const default_action = NoAction();
    }

    // The tunnel of a packet, by its input port and destination.
    table tunnels {
        key = {
            standard_metadata.ingress_port: exact;
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            put_in;
            NoAction;
        }
        const entries = {
            // From 10.0.12.1 to 10.0.4.254, for 10.0.3.0/24.
            (1, 0x0a000300 &&& 0xffffff00): put_in(0x0a000c01, 0x0a0004fe);
        }
        const default_action = NoAction();
    }

    apply {
        if (hdr.inner.isValid()) {
            ends.apply();
        } else if (hdr.ipv4.ihl == IHL_WITHOUT_OPTIONS) {
            tunnels.apply();
        }
    }
}

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action set_next_hop(port_num_t port, mac_addr_t src_addr, mac_addr_t dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table ipv4_routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            set_next_hop;
            drop;
        }
        default_action = drop();
        size = 1024;
    }

    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1 && standard_metadata.checksum_error == 0) {
            tunnel.apply(hdr, standard_metadata);
            ipv4_routes.apply();
        } else {
            drop();
        }
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { }
}

control update_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == IHL_WITHOUT_OPTIONS,
                        IPV4_FIELDS(hdr.ipv4), hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control deparse_packet(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;
