// The telemetry report: what a copy of a packet becomes on its way to the collector.
//
//   Ethernet | IPv4 | UDP | group | report | this node's metadata | the packet from Ethernet on
//
// The copy of a packet that was stripped gets its INT headers back first, with the lengths and the
// checksum that belong to them: the collector sees the packet as it was on the last link.
//
// Reads:  meta.telemetry.{hop,report,node_id}. Writes: hdr.report_*, and the packet's own headers back.
// Apply in egress, to copies only.

#ifndef VITRINE_CONTROL_INT_REPORT_P4
#define VITRINE_CONTROL_INT_REPORT_P4

#include "../../lib/parsers.p4"

// Group header and report header.
const bit<16> REPORT_HEADERS_BYTES = 20;
const bit<8>  REPORT_TTL = 64;

control int_put_back(inout headers_t hdr, in metadata_t meta) {
    action put_back_surroundings() {
        // Fields of a header that is not there stay unseen.
        hdr.ipv4.dscp = meta.telemetry.report.dscp;
        hdr.ipv6.dscp = meta.telemetry.report.dscp;
        hdr.ipv4.total_len = meta.telemetry.report.ip_length;
        hdr.ipv6.payload_len = meta.telemetry.report.ip_length;
        hdr.udp.length_bytes = meta.telemetry.report.udp_length;
        hdr.udp.dst_port = meta.telemetry.report.l4_dst_port;
        hdr.udp.checksum = meta.telemetry.report.l4_checksum;
        hdr.tcp.checksum = meta.telemetry.report.l4_checksum;
    }

    action put_back_headers() {
        hdr.int_shim.setValid();
        hdr.int_shim.int_type = meta.telemetry.report.shim[31:28];
        hdr.int_shim.next_protocol_type = meta.telemetry.report.shim[27:26];
        hdr.int_shim.reserved = meta.telemetry.report.shim[25:24];
        hdr.int_shim.length_words = meta.telemetry.report.shim[23:16];
        hdr.int_shim.original = meta.telemetry.report.shim[15:0];
        hdr.int_header.setValid();
        hdr.int_header.version = meta.telemetry.report.int_header[95:92];
        hdr.int_header.discard = meta.telemetry.report.int_header[91:91];
        hdr.int_header.hops_exceeded = meta.telemetry.report.int_header[90:90];
        hdr.int_header.mtu_exceeded = meta.telemetry.report.int_header[89:89];
        hdr.int_header.reserved = meta.telemetry.report.int_header[88:77];
        hdr.int_header.hop_words = meta.telemetry.report.int_header[76:72];
        hdr.int_header.remaining_hops = meta.telemetry.report.int_header[71:64];
        hdr.int_header.bitmap = meta.telemetry.report.int_header[63:48];
        hdr.int_header.domain_id = meta.telemetry.report.int_header[47:32];
        hdr.int_header.domain_bitmap = meta.telemetry.report.int_header[31:16];
        hdr.int_header.domain_flags = meta.telemetry.report.int_header[15:0];
    }

    action put_back_32() {
        hdr.int_stack_32.setValid();
        hdr.int_stack_32.words = meta.telemetry.report.stack_32;
    }
    action put_back_16() {
        hdr.int_stack_16.setValid();
        hdr.int_stack_16.words = meta.telemetry.report.stack_16;
    }
    action put_back_8() {
        hdr.int_stack_8.setValid();
        hdr.int_stack_8.words = meta.telemetry.report.stack_8;
    }
    action put_back_4() {
        hdr.int_stack_4.setValid();
        hdr.int_stack_4.words = meta.telemetry.report.stack_4;
    }
    action put_back_2() {
        hdr.int_stack_2.setValid();
        hdr.int_stack_2.words = meta.telemetry.report.stack_2;
    }
    action put_back_1() {
        hdr.int_stack_1.setValid();
        hdr.int_stack_1.words = meta.telemetry.report.stack_1;
    }

    apply {
        put_back_surroundings();
        put_back_headers();
        bit<8> words = meta.telemetry.report.int_words - INT_HEADER_WORDS;
        if (words[5:5] == 1) { put_back_32(); }
        if (words[4:4] == 1) { put_back_16(); }
        if (words[3:3] == 1) { put_back_8(); }
        if (words[2:2] == 1) { put_back_4(); }
        if (words[1:1] == 1) { put_back_2(); }
        if (words[0:0] == 1) { put_back_1(); }
    }
}

control int_report(inout headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    // The number of the next report: the collector finds gaps by it.
    register<bit<32>>(1) report_sequence;

    bit<16> frame_bytes_max = 0;

    // Set by the controller: where reports go, and how much of a packet they carry.
    action set_collector(mac_addr_t src_mac, mac_addr_t dst_mac,
                         ipv4_addr_t src_addr, ipv4_addr_t dst_addr,
                         bit<16> udp_port, bit<16> packet_bytes) {
        hdr.report_ethernet.setValid();
        hdr.report_ethernet.src_addr = src_mac;
        hdr.report_ethernet.dst_addr = dst_mac;
        hdr.report_ethernet.ether_type = ETHERTYPE_IPV4;
        hdr.report_ipv4.setValid();
        hdr.report_ipv4.version = 4;
        hdr.report_ipv4.ihl = 5;
        hdr.report_ipv4.dscp = 0;
        hdr.report_ipv4.ecn = 0;
        hdr.report_ipv4.identification = 0;
        hdr.report_ipv4.reserved = 0;
        hdr.report_ipv4.dont_fragment = 1;
        hdr.report_ipv4.more_fragments = 0;
        hdr.report_ipv4.frag_offset = 0;
        hdr.report_ipv4.ttl = REPORT_TTL;
        hdr.report_ipv4.protocol = IP_PROTOCOL_UDP;
        hdr.report_ipv4.src_addr = src_addr;
        hdr.report_ipv4.dst_addr = dst_addr;
        hdr.report_udp.setValid();
        hdr.report_udp.src_port = udp_port;
        hdr.report_udp.dst_port = udp_port;
        hdr.report_udp.checksum = 0;
        frame_bytes_max = packet_bytes;
    }

    table int_collector {
        actions = {
            set_collector;
            NoAction;
        }
        default_action = NoAction();
    }

    action put_report(bit<32> sequence) {
        hdr.report_group.setValid();
        hdr.report_group.version = REPORT_VERSION;
        hdr.report_group.hardware_id = 0;
        hdr.report_group.sequence = sequence[21:0];
        hdr.report_group.node_id = meta.telemetry.node_id;
        hdr.report.setValid();
        hdr.report.report_type = REPORT_TYPE_INT;
        hdr.report.inner_type = REPORT_INNER_ETHERNET;
        hdr.report.length_words = REPORT_LENGTH_TO_END;
        hdr.report.metadata_words = 0;
        hdr.report.dropped = meta.telemetry.report.dropped;
        hdr.report.congested = meta.telemetry.report.congested;
        hdr.report.tracked = meta.telemetry.report.tracked;
        hdr.report.intermediate = 0;
        hdr.report.reserved = 0;
        hdr.report.bitmap = meta.telemetry.report.bitmap;
        hdr.report.domain_id = meta.telemetry.report.domain_id;
        hdr.report.domain_bitmap = 0;
        hdr.report.domain_status = 0;
    }

    action put_ports() {
        hdr.report_ports.setValid();
        hdr.report_ports.ingress_port = meta.telemetry.hop.ingress_port;
        hdr.report_ports.egress_port = meta.telemetry.hop.egress_port;
        hdr.report.metadata_words = hdr.report.metadata_words + 1;
    }
    action put_hop_latency() {
        hdr.report_hop_latency.setValid();
        hdr.report_hop_latency.hop_latency = meta.telemetry.hop.hop_latency;
        hdr.report.metadata_words = hdr.report.metadata_words + 1;
    }
    action put_queue() {
        hdr.report_queue.setValid();
        hdr.report_queue.queue_id = meta.telemetry.hop.queue_id;
        hdr.report_queue.occupancy = meta.telemetry.hop.queue_occupancy;
        hdr.report.metadata_words = hdr.report.metadata_words + 1;
    }
    action put_ingress_time() {
        hdr.report_ingress_time.setValid();
        hdr.report_ingress_time.ingress_time = meta.telemetry.hop.ingress_time;
        hdr.report.metadata_words = hdr.report.metadata_words + 2;
    }
    action put_egress_time() {
        hdr.report_egress_time.setValid();
        hdr.report_egress_time.egress_time = meta.telemetry.hop.egress_time;
        hdr.report.metadata_words = hdr.report.metadata_words + 2;
    }
    action put_interfaces() {
        hdr.report_interfaces.setValid();
        hdr.report_interfaces.ingress_interface = (bit<32>)meta.telemetry.hop.ingress_port;
        hdr.report_interfaces.egress_interface = (bit<32>)meta.telemetry.hop.egress_port;
        hdr.report.metadata_words = hdr.report.metadata_words + 2;
    }
    action put_utilisation() {
        hdr.report_utilisation.setValid();
        hdr.report_utilisation.egress_utilisation = meta.telemetry.hop.utilisation;
        hdr.report.metadata_words = hdr.report.metadata_words + 1;
    }
    action put_buffer() {
        hdr.report_buffer.setValid();
        hdr.report_buffer.buffer_id = 0;
        hdr.report_buffer.occupancy = meta.telemetry.hop.buffer_occupancy;
        hdr.report.metadata_words = hdr.report.metadata_words + 1;
    }
    action put_drop() {
        hdr.report_drop.setValid();
        hdr.report_drop.queue_id = meta.telemetry.hop.queue_id;
        hdr.report_drop.reason = meta.telemetry.report.drop_reason;
        hdr.report_drop.padding = 0;
        hdr.report.metadata_words = hdr.report.metadata_words + 1;
    }

    // The outer lengths, and the packet cut to what the report carries of it.
    action put_lengths() {
        bit<16> packet_bytes = ETHERNET_BYTES
            + (hdr.ipv4.isValid() ? hdr.ipv4.total_len : IPV6_BYTES + hdr.ipv6.payload_len);
        bit<16> carried_bytes = packet_bytes < frame_bytes_max ? packet_bytes : frame_bytes_max;
        hdr.report_udp.length_bytes = UDP_BYTES + REPORT_HEADERS_BYTES
            + 4 * (bit<16>)hdr.report.metadata_words + carried_bytes;
        hdr.report_ipv4.total_len = IPV4_BYTES + hdr.report_udp.length_bytes;
        truncate((bit<32>)(ETHERNET_BYTES + hdr.report_ipv4.total_len));
    }

    apply {
        if (meta.telemetry.send_report == 1) {
            int_collector.apply();
        }
        if (hdr.report_ethernet.isValid()) {
            if (meta.telemetry.report.int_words != 0) {
                int_put_back.apply(hdr, meta);
            }
            bit<32> sequence;
            report_sequence.read(sequence, 0);
            report_sequence.write(0, sequence + 1);
            put_report(sequence);
            bit<16> bitmap = meta.telemetry.report.bitmap;
            if (bitmap & INT_PORTS != 0) { put_ports(); }
            if (bitmap & INT_HOP_LATENCY != 0) { put_hop_latency(); }
            if (bitmap & INT_QUEUE != 0) { put_queue(); }
            if (bitmap & INT_INGRESS_TIME != 0) { put_ingress_time(); }
            if (bitmap & INT_EGRESS_TIME != 0) { put_egress_time(); }
            if (bitmap & INT_INTERFACES != 0) { put_interfaces(); }
            if (bitmap & INT_UTILISATION != 0) { put_utilisation(); }
            if (bitmap & INT_BUFFER != 0) { put_buffer(); }
            if (bitmap & INT_REPORT_DROP != 0) { put_drop(); }
            put_lengths();
        } else {
            // Nothing to report, or no collector is known: the copy has nowhere to go.
            mark_to_drop(standard_metadata);
        }
    }
}

// The report's own IPv4 header; apply in update_checksums.
control update_report_checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.report_ipv4.isValid(), IPV4_CHECKSUM_FIELDS(hdr.report_ipv4),
                        hdr.report_ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

#endif
