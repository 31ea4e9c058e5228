// AIFO (Yu et al., SIGCOMM 2021): one FIFO queue that drops the packets a ranked queue would drop.
// A packet is admitted if few of the last ranks were lower than its own, fewer the fuller the queue.
//
//   routing -> rank = DSCP -> how many of the last 8 ranks are lower? -> admit or drop
//
// With capacity C, depth c and burst allowance k, it is admitted if c <= k C or
//
//   lower / 8 <= (C - c) / (C (1 - k)),
//
// here with k = 1/8, so that the rule is: 7 lower C <= 64 (C - c).

#include "paths.p4"

// The limit of the queue in packets, as the topology sets it: `queue: 64 packets`.
const bit<32> CAPACITY = 64;

control decide(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    // The ranks of the last eight packets, and where the next goes.
    register<bit<8>>(8) ranks;
    register<bit<3>>(1) next_cell;

    bit<8> rank = 0;
    bit<32> lower = 0;

    action compare(in bit<32> cell) {
        bit<8> other;
        ranks.read(other, cell);
        lower = lower + (other < rank ? 32w1 : 32w0);
    }

    apply {
        bit<3> cell;
        bit<32> depth;
        bit<32> bytes;
        rank = hdr.ipv4.isValid() ? (bit<8>)hdr.ipv4.dscp : 0;
        compare(0);
        compare(1);
        compare(2);
        compare(3);
        compare(4);
        compare(5);
        compare(6);
        compare(7);
        next_cell.read(cell, 0);
        ranks.write((bit<32>)cell, rank);
        next_cell.write(0, cell + 1);
        queue_depth(standard_metadata.egress_spec, (bit<8>)standard_metadata.priority,
                    depth, bytes);
        if (depth > CAPACITY / 8 && 7 * lower * CAPACITY > 64 * (CAPACITY - depth)) {
            mark_to_drop(standard_metadata);
        }
    }
}

#include "router.p4"
