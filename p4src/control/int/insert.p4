// Puts INT into a packet: the headers at the flow's source, this node's metadata at every hop.
//
//   source ? --yes--> can it be marked, do the headers fit the MTU ? --no--> no INT for it
//        |                  | yes
//        |                  v  shim, INT header, marker
//        v                  v
//   INT-MD, and hops remain ? --no--> mark hops_exceeded
//        | yes
//   are the instructions all known, and as many words as the header says ? --no--> add nothing
//        | yes
//   do the metadata fit the MTU ? --no--> mark mtu_exceeded
//        | yes
//        v  one header for each instruction, in the order of the bitmap; one hop less remains
//
// A node adds all words of a hop or none, whatever it knows: values that it lacks are ones.
//
// Reads:  meta.telemetry.{watch,hop,mtu,node_id}, the IP length.
// Writes: hdr.int_*, the IP header's DSCP (or the UDP port) as marker, meta.telemetry.growth_bytes
//         and .repair.
// Apply in egress after `measure`; `repair` must follow.

#ifndef VITRINE_CONTROL_INT_INSERT_P4
#define VITRINE_CONTROL_INT_INSERT_P4

#include "../../lib/parsers.p4"
#include "marker.p4"
#include "sums.p4"

control int_insert(inout headers_t hdr, inout metadata_t meta) {
    action put_headers() {
        hdr.int_shim.setValid();
        hdr.int_shim.int_type = meta.telemetry.watch.int_type;
        hdr.int_shim.next_protocol_type = INT_NEXT_PROTOCOL_TYPE;
        hdr.int_shim.reserved = 0;
        hdr.int_shim.length_words = INT_HEADER_WORDS;
        hdr.int_header.setValid();
        hdr.int_header.version = INT_VERSION;
        hdr.int_header.discard = 0;
        hdr.int_header.hops_exceeded = 0;
        hdr.int_header.mtu_exceeded = 0;
        hdr.int_header.reserved = 0;
        hdr.int_header.hop_words = meta.telemetry.watch.hop_words;
        hdr.int_header.remaining_hops = meta.telemetry.watch.remaining_hops;
        hdr.int_header.bitmap = meta.telemetry.watch.bitmap;
        hdr.int_header.domain_id = meta.telemetry.watch.domain_id;
        hdr.int_header.domain_bitmap = 0;
        hdr.int_header.domain_flags = 0;
        meta.telemetry.growth_bytes = INT_FIXED_BYTES;
    }

    // How many words this node's metadata take for the instructions of the header.
    action count_words(out bit<8> words) {
        bit<16> bitmap = hdr.int_header.bitmap;
        // Ports and queue are one word each, times and interfaces two.
        words = (bit<8>)bitmap[15:15] + (bit<8>)bitmap[14:14] + (bit<8>)bitmap[13:13]
            + (bit<8>)bitmap[12:12] + 2 * (bit<8>)bitmap[11:11] + 2 * (bit<8>)bitmap[10:10]
            + 2 * (bit<8>)bitmap[9:9] + (bit<8>)bitmap[8:8] + (bit<8>)bitmap[7:7]
            + (bit<8>)bitmap[0:0];
    }

    // In the order of the bits, which is the order on the wire.
    action put_node_id() {
        hdr.int_node_id.setValid();
        hdr.int_node_id.node_id = meta.telemetry.node_id;
        meta.telemetry.put.node_id = meta.telemetry.node_id;
    }
    action put_ports() {
        hdr.int_ports.setValid();
        hdr.int_ports.ingress_port = meta.telemetry.hop.ingress_port;
        hdr.int_ports.egress_port = meta.telemetry.hop.egress_port;
        meta.telemetry.put.ports =
            meta.telemetry.hop.ingress_port ++ meta.telemetry.hop.egress_port;
    }
    action put_hop_latency() {
        hdr.int_hop_latency.setValid();
        hdr.int_hop_latency.hop_latency = meta.telemetry.hop.hop_latency;
        meta.telemetry.put.hop_latency = meta.telemetry.hop.hop_latency;
    }
    action put_queue() {
        hdr.int_queue.setValid();
        hdr.int_queue.queue_id = meta.telemetry.hop.queue_id;
        hdr.int_queue.occupancy = meta.telemetry.hop.queue_occupancy;
        meta.telemetry.put.queue =
            meta.telemetry.hop.queue_id ++ meta.telemetry.hop.queue_occupancy;
    }
    action put_ingress_time() {
        hdr.int_ingress_time.setValid();
        hdr.int_ingress_time.ingress_time = meta.telemetry.hop.ingress_time;
        meta.telemetry.put.ingress_time = meta.telemetry.hop.ingress_time;
    }
    action put_egress_time() {
        hdr.int_egress_time.setValid();
        hdr.int_egress_time.egress_time = meta.telemetry.hop.egress_time;
        meta.telemetry.put.egress_time = meta.telemetry.hop.egress_time;
    }
    // The router has one kind of port, so both levels of interfaces are the same numbers.
    action put_interfaces() {
        hdr.int_interfaces.setValid();
        hdr.int_interfaces.ingress_interface = (bit<32>)meta.telemetry.hop.ingress_port;
        hdr.int_interfaces.egress_interface = (bit<32>)meta.telemetry.hop.egress_port;
        meta.telemetry.put.interfaces = (bit<32>)meta.telemetry.hop.ingress_port
            ++ (bit<32>)meta.telemetry.hop.egress_port;
    }
    action put_utilisation() {
        hdr.int_utilisation.setValid();
        hdr.int_utilisation.egress_utilisation = meta.telemetry.hop.utilisation;
        meta.telemetry.put.utilisation = meta.telemetry.hop.utilisation;
    }
    // One buffer, number 0, is shared by all queues.
    action put_buffer() {
        hdr.int_buffer.setValid();
        hdr.int_buffer.buffer_id = 0;
        hdr.int_buffer.occupancy = meta.telemetry.hop.buffer_occupancy;
        meta.telemetry.put.buffer = (bit<32>)meta.telemetry.hop.buffer_occupancy;
    }
    // All ones: the checksum of TCP or UDP is brought up to date instead.
    action put_complement() {
        hdr.int_complement.setValid();
        hdr.int_complement.checksum_complement = 0xffffffff;
        meta.telemetry.put.complement = 0xffffffff;
    }

    action put_metadata(in bit<8> words) {
        hdr.int_shim.length_words = hdr.int_shim.length_words + words;
        hdr.int_header.remaining_hops = hdr.int_header.remaining_hops - 1;
        meta.telemetry.growth_bytes = meta.telemetry.growth_bytes + 4 * (bit<16>)words;
    }

    apply {
        bit<8> words = 0;
        bit<16> ip_bytes = 0;
        // Of what the packet has already only these two headers change.
        if (hdr.int_shim.isValid() && hdr.int_header.isValid()) {
            hash(meta.telemetry.repair.taken, HashAlgorithm.csum16, 16w0,
                 { INT_SHIM_AND_HEADER }, ALL_OF_16_BITS);
        }
        if (hdr.ipv4.isValid()) {
            ip_bytes = hdr.ipv4.total_len;
        } else if (hdr.ipv6.isValid()) {
            ip_bytes = IPV6_BYTES + hdr.ipv6.payload_len;
        }
        if (meta.telemetry.watch.source == 1 && !hdr.int_shim.isValid() && INT_CAN_MARK
            && ip_bytes + INT_FIXED_BYTES <= meta.telemetry.mtu) {
            put_headers();
            int_mark.apply(hdr);
        }
        if (hdr.int_shim.isValid() && hdr.int_shim.int_type == INT_TYPE_MD) {
            count_words(words);
            bit<16> grown = ip_bytes + meta.telemetry.growth_bytes + 4 * (bit<16>)words;
            if (hdr.int_header.remaining_hops == 0) {
                hdr.int_header.hops_exceeded = 1;
            } else if (hdr.int_header.bitmap & INT_RESERVED_BITS != 0
                       || words != (bit<8>)hdr.int_header.hop_words) {
                // An instruction this node does not know, or a domain's own: no half hop.
            } else if (grown > meta.telemetry.mtu) {
                hdr.int_header.mtu_exceeded = 1;
            } else {
                put_metadata(words);
                if (hdr.int_header.bitmap & INT_NODE_ID != 0) { put_node_id(); }
                if (hdr.int_header.bitmap & INT_PORTS != 0) { put_ports(); }
                if (hdr.int_header.bitmap & INT_HOP_LATENCY != 0) { put_hop_latency(); }
                if (hdr.int_header.bitmap & INT_QUEUE != 0) { put_queue(); }
                if (hdr.int_header.bitmap & INT_INGRESS_TIME != 0) { put_ingress_time(); }
                if (hdr.int_header.bitmap & INT_EGRESS_TIME != 0) { put_egress_time(); }
                if (hdr.int_header.bitmap & INT_INTERFACES != 0) { put_interfaces(); }
                if (hdr.int_header.bitmap & INT_UTILISATION != 0) { put_utilisation(); }
                if (hdr.int_header.bitmap & INT_BUFFER != 0) { put_buffer(); }
                if (hdr.int_header.bitmap & INT_CHECKSUM_COMPLEMENT != 0) { put_complement(); }
            }
        }
        if (hdr.int_shim.isValid() && hdr.int_header.isValid()) {
            hash(meta.telemetry.repair.put, HashAlgorithm.csum16, 16w0,
                 { INT_SHIM_AND_HEADER, INT_PUT_WORDS }, ALL_OF_16_BITS);
        }
    }
}

#endif
