// Congestion-aware ECMP: a flow hashes to two paths, and each of its flowlets takes the one whose
// queue empties sooner; of two empty queues, the one whose port was less busy. A flow that never
// pauses stays on one path, in order.
//
//   path_count -> two hashes -> flowlet goes on?  yes: the path it has
//                                                 no:  the better of the two -> chosen_path

#include "paths.p4"

// A flowlet begins after a pause of as many microseconds.
const bit<48> PAUSE_US = 500;

#define FLOW_CELLS 1024

control decide(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    register<bit<9>>(PATH_CELLS) port_of_path;
    // Of each flow: the path of its flowlet, and when it last sent.
    register<bit<16>>(FLOW_CELLS) path_of_flow;
    register<bit<48>>(FLOW_CELLS) seen_at;

    // The queue of a path and its port.
    action look_at(in bit<16> path, out bit<64> queued, out bit<64> rate, out bit<16> busy) {
        bit<9> port;
        bit<32> packets;
        bit<32> bytes;
        port_of_path.read(port, PATH_CELL(path));
        queue_depth(port, (bit<8>)standard_metadata.priority, packets, bytes);
        port_rate(port, rate, busy);
        queued = (bit<64>)bytes;
    }

    apply {
        path_count.apply(hdr, meta);
        if (meta.balancing.count != 0) {
            bit<48> now = standard_metadata.ingress_global_timestamp;
            bit<32> cell;
            bit<48> seen;
            hash(cell, HashAlgorithm.crc32, 32w0,
                 { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, meta.l4.src, meta.l4.dst }, 32w1024);
            seen_at.read(seen, cell);
            seen_at.write(cell, now);
            path_of_flow.read(meta.balancing.path, cell);
            if (seen == 0 || now - seen > PAUSE_US) {
                bit<16> first;
                bit<16> second;
                bit<64> first_queued;
                bit<64> second_queued;
                bit<64> first_rate;
                bit<64> second_rate;
                bit<16> first_busy;
                bit<16> second_busy;
                hash(first, HashAlgorithm.crc16, 16w0,
                     { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, meta.l4.src, meta.l4.dst },
                     (bit<32>)meta.balancing.count);
                hash(second, HashAlgorithm.crc32, 16w0,
                     { meta.l4.dst, meta.l4.src, hdr.ipv4.dst_addr, hdr.ipv4.src_addr },
                     (bit<32>)meta.balancing.count);
                look_at(first, first_queued, first_rate, first_busy);
                look_at(second, second_queued, second_rate, second_busy);
                // queued / rate is the time to empty; both sides are multiplied by both rates.
                bit<64> first_wait = first_queued * second_rate;
                bit<64> second_wait = second_queued * first_rate;
                bool both_empty = first_queued == 0 && second_queued == 0;
                if (second_wait < first_wait || both_empty && second_busy < first_busy) {
                    meta.balancing.path = second;
                } else {
                    meta.balancing.path = first;
                }
                path_of_flow.write(cell, meta.balancing.path);
            }
            chosen_path.apply(hdr, meta, standard_metadata);
            port_of_path.write(PATH_CELL(meta.balancing.path), meta.balancing.port);
        }
    }
}

#include "router.p4"
