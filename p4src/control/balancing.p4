// Load balancing: which of several equally good paths a packet takes.
//
//   routing chose a group of next hops
//        |
//   path = hash of the two addresses + the flow's turn, modulo the number of paths
//        |                                  |
//        |        ECMP:             the turn is always 0
//        |        FLOWLETS:         after a pause the turn is drawn anew
//        |        CONGESTION_AWARE: the turn grows by 1 when this path is reported full
//        v
//   paths: port and MACs of the path
//
// A flow here is all that one host sends to another: routers usually hash the ports of TCP and UDP
// too, but then whether two flows meet is another matter at every run.
//
// Under CONGESTION_AWARE one flow at a time moves: the first that has a packet for a full path while
// the next path is not full. Then all wait for `hold`, so that the queues can show what it did.
//
// Reads:  hdr.ipv4, meta.next_hop_group, meta.balancing.is_told_full, standard_metadata.
// Writes: standard_metadata.egress_spec, hdr.ethernet.{dst,src}_addr, meta.balancing.
// Apply after routing, whose choice it replaces, and after queue_telling. IPv6 keeps that of routing.

#ifndef VITRINE_CONTROL_BALANCING_P4
#define VITRINE_CONTROL_BALANCING_P4

#include "../lib/parsers.p4"

const bit<8> BALANCE_ECMP = 0;
const bit<8> BALANCE_FLOWLETS = 1;
const bit<8> BALANCE_CONGESTION_AWARE = 2;

// Pairs of hosts that share a cell share their turn, too: that costs balance, never order.
const bit<64> FLOW_CELLS = 1024;

control balancing(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    // When the path behind each port was last told to be full; 0 is never.
    register<bit<48>>(512) full_at;
    // When a flow last moved.
    register<bit<48>>(1) moved_at;
    // Of each flow: its turn, and when it last sent.
    register<bit<16>>(1024) turns;
    register<bit<48>>(1024) seen_at;
    // Packets at which a flow got another turn, or drew one.
    counter(1, CounterType.packets) moves;

    bit<8>  method = BALANCE_ECMP;
    bit<48> pause_us = 0;
    bit<48> recent_us = 0;
    bit<48> hold_us = 0;

    // A flowlet begins after a pause; a path is full if reported so recently; between two moves
    // passes the hold. All in microseconds.
    action balance(bit<8> chosen, bit<48> pause, bit<48> recent, bit<48> hold) {
        method = chosen;
        pause_us = pause;
        recent_us = recent;
        hold_us = hold;
    }

    // Set by the controller as the default action.
    table balancing_method {
        actions = {
            balance;
        }
        default_action = balance(BALANCE_ECMP, 0, 0, 0);
    }

    action has_paths(bit<16> count) {
        meta.balancing.count = count;
    }

    // Filled by the controller: how many paths a group of next hops has.
    table path_groups {
        key = {
            meta.next_hop_group: exact;
        }
        actions = {
            has_paths;
            NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    action take_path(port_num_t port, mac_addr_t src_addr, mac_addr_t dst_addr,
                     port_num_t next_port) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
        meta.balancing.port = port;
        meta.balancing.next_port = next_port;
    }

    // Filled by the controller: where each path begins.
    table paths {
        key = {
            meta.next_hop_group: exact;
            meta.balancing.path: exact;
        }
        actions = {
            take_path;
            NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    apply {
        bit<48> now = standard_metadata.ingress_global_timestamp;
        if (meta.balancing.is_told_full) {
            full_at.write((bit<32>)standard_metadata.ingress_port, now);
            mark_to_drop(standard_metadata);
            return;
        }
        meta.balancing.count = 0;
        if (!hdr.ipv4.isValid() || meta.next_hop_group == 0) {
            return;
        }
        path_groups.apply();
        if (meta.balancing.count == 0) {
            return;
        }
        balancing_method.apply();

        bit<32> cell = 0;
        bit<16> turn = 0;
        hash(cell, HashAlgorithm.crc32, 32w0, { hdr.ipv4.src_addr, hdr.ipv4.dst_addr }, FLOW_CELLS);
        turns.read(turn, cell);

        if (method == BALANCE_FLOWLETS) {
            bit<48> seen = 0;
            seen_at.read(seen, cell);
            seen_at.write(cell, now);
            if (seen != 0 && now - seen > pause_us) {
                random(turn, 16w0, meta.balancing.count - 1);
                turns.write(cell, turn);
                moves.count(0);
            }
        }

        hash(meta.balancing.path, HashAlgorithm.crc32, 16w0,
             { hdr.ipv4.src_addr, hdr.ipv4.dst_addr }, (bit<32>)meta.balancing.count);
        meta.balancing.path = meta.balancing.path + turn;
        if (meta.balancing.path >= meta.balancing.count) {
            meta.balancing.path = meta.balancing.path - meta.balancing.count;
        }
        paths.apply();

        if (method == BALANCE_CONGESTION_AWARE) {
            bit<48> full = 0;
            bit<48> next_full = 0;
            bit<48> moved = 0;
            full_at.read(full, (bit<32>)meta.balancing.port);
            full_at.read(next_full, (bit<32>)meta.balancing.next_port);
            moved_at.read(moved, 0);
            bool is_full = full != 0 && now - full < recent_us;
            bool next_is_full = next_full != 0 && now - next_full < recent_us;
            bool may_move = moved == 0 || now - moved >= hold_us;
            if (is_full && !next_is_full && may_move) {
                // From its next packet on.
                turn = turn + 1;
                if (turn == meta.balancing.count) {
                    turn = 0;
                }
                turns.write(cell, turn);
                moved_at.write(0, now);
                moves.count(0);
            }
        }
    }
}

#endif
