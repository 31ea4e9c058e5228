// Flow events after NetSeer: a flow whose packets are dropped or wait too long in the queue.
//
//   dropped by a queue (the switch sends it through egress, instance_type 7), or
//   leaves its queue after a wait of at least the threshold:
//      the flow's events of this kind in this window += 1;  1, 2, 4, 8, ...?  report
//      another flow in its cell?  this one takes the cell, and is reported
//
// The paper's events also are changes of paths and pauses, which the scoreboard's network has not;
// its batches and its answer to drops between switches are left out. A cell has the number of its
// window, which ends an event.

#include "base.p4"

const bit<32> COLUMNS = 256;
// 2^20 ns, counted from 1, as registers begin with 0.
#define WINDOW(time_ns) ((bit<32>)((time_ns) >> (20 - FASTER_BITS)) + 1)
// The reasons of drops are smaller.
const bit<8> CONGESTED = 255;

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    // Set by the controller.
    register<bit<32>>(1) threshold_ns;
    // A cell: window 32, packets 32, reason 8, source 32, destination 32, protocol 8, ports 16, 16.
    register<bit<176>>(COLUMNS) events;

    apply {
        bit<32> threshold;
        bit<32> column;
        bit<176> cell;
        bit<32> window;
        bit<112> event;
        bool is_drop = standard_metadata.instance_type == DROPPED;
        threshold_ns.read(threshold, 0);
        describe(meta, standard_metadata);
        meta.reason = CONGESTED;
        if (is_drop) {
            meta.time_ns = standard_metadata.ingress_time_ns;
            meta.wait_ns = 0;
            meta.depth_bytes = 0;
            meta.reason = standard_metadata.drop_reason;
        } else if (meta.wait_ns < threshold) {
            return;
        }
        window = WINDOW(meta.time_ns);
        event = meta.reason ++ hdr.ipv4.src_addr ++ hdr.ipv4.dst_addr ++ hdr.ipv4.protocol
                ++ meta.src_port ++ meta.dst_port;
        hash(column, HashAlgorithm.crc32, 32w0, { event }, COLUMNS);
        events.read(cell, column);
        meta.packets = 1;
        if (cell[175:144] == window && cell[111:0] == event) {
            meta.packets = cell[143:112] + 1;
        }
        events.write(column, window ++ meta.packets ++ event);
        bool is_told = meta.packets & (meta.packets - 1) == 0;
        if (is_drop && is_told) {
            become_report.apply(hdr, meta, standard_metadata);
        } else if (is_drop) {
            mark_to_drop(standard_metadata);
        } else if (is_told) {
            send_report();
        }
    }
}

#include "main.p4"
