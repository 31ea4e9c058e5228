// The watched flows, and the metadata that their packets collect.
//
//   TCP or UDP ?  --no--> nothing
//        | yes
//   carries INT already ?  --yes--> watched; its source has decided the rest
//        | no
//   int_flows_ipv4 or _ipv6 (ternary on addresses, protocol, ports)
//        | start_int        this node puts INT-MD or INT-MX headers in
//        | send_postcards   every node reports by itself (INT-XD): the same entry on every node
//        | watch            only drops and congestion of the flow are reported
//        v
//   meta.telemetry.watch
//
// Reads:  hdr.ipv4, hdr.ipv6, meta.l4. Writes: meta.telemetry.watch.
// Apply in ingress, after routing. Filled by the controller: on the nodes where flows enter.

#ifndef VITRINE_CONTROL_INT_WATCHLIST_P4
#define VITRINE_CONTROL_INT_WATCHLIST_P4

#include "../../lib/parsers.p4"

control int_watchlist(in headers_t hdr, inout metadata_t meta) {
    // Packets and bytes of each entry: what was watched, to hold against what was reported.
    direct_counter(CounterType.packets_and_bytes) watched_ipv4_traffic;
    direct_counter(CounterType.packets_and_bytes) watched_ipv6_traffic;

    // `hop_words` must be the words that `bitmap` takes, and `remaining_hops` times that at most
    // 63 words, which is what a sink's parser holds: the controller checks both.
    action start_int(bit<4> int_type, bit<16> bitmap, bit<5> hop_words, bit<8> remaining_hops,
                     bit<16> domain_id) {
        meta.telemetry.watch.watched = 1;
        meta.telemetry.watch.source = 1;
        meta.telemetry.watch.int_type = int_type;
        meta.telemetry.watch.bitmap = bitmap;
        meta.telemetry.watch.hop_words = hop_words;
        meta.telemetry.watch.remaining_hops = remaining_hops;
        meta.telemetry.watch.domain_id = domain_id;
    }

    action send_postcards(bit<16> bitmap, bit<16> domain_id) {
        meta.telemetry.watch.watched = 1;
        meta.telemetry.watch.postcard = 1;
        meta.telemetry.watch.bitmap = bitmap;
        meta.telemetry.watch.domain_id = domain_id;
    }

    action watch() {
        meta.telemetry.watch.watched = 1;
    }

    table int_flows_ipv4 {
        key = {
            hdr.ipv4.src_addr: ternary;
            hdr.ipv4.dst_addr: ternary;
            hdr.ipv4.protocol: ternary;
            meta.l4.src: ternary;
            meta.l4.dst: ternary;
        }
        actions = {
            start_int;
            send_postcards;
            watch;
            NoAction;
        }
        default_action = NoAction();
        counters = watched_ipv4_traffic;
        size = 1024;
    }

    table int_flows_ipv6 {
        key = {
            hdr.ipv6.src_addr: ternary;
            hdr.ipv6.dst_addr: ternary;
            hdr.ipv6.next_header: ternary;
            meta.l4.src: ternary;
            meta.l4.dst: ternary;
        }
        actions = {
            start_int;
            send_postcards;
            watch;
            NoAction;
        }
        default_action = NoAction();
        counters = watched_ipv6_traffic;
        size = 1024;
    }

    apply {
        if (hdr.int_shim.isValid()) {
            // Marked, but with more words than the packet has bytes: that is no INT.
            bit<16> ip_payload_bytes = hdr.ipv4.isValid()
                ? hdr.ipv4.total_len - 4 * (bit<16>)hdr.ipv4.ihl
                : hdr.ipv6.payload_len;
            bit<16> l4_bytes = hdr.tcp.isValid() ? 4 * (bit<16>)hdr.tcp.header_words : UDP_BYTES;
            bit<16> int_bytes = 4 + 4 * (bit<16>)hdr.int_shim.length_words;
            if (l4_bytes + int_bytes <= ip_payload_bytes) {
                meta.telemetry.watch.watched = 1;
            }
        } else if (hdr.tcp.isValid() || hdr.udp.isValid()) {
            if (hdr.ipv4.isValid()) {
                int_flows_ipv4.apply();
            } else {
                int_flows_ipv6.apply();
            }
        }
    }
}

#endif
