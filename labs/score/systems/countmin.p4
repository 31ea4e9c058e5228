// A count-min sketch: packets by flow in windows of 8.4 ms, reported when the queue is deep.
//
//   leaves its queue:  flow's packets in this window += 1, all packets += 1
//      depth >= threshold, and the flow has 5 % of the window's packets?  report, once a window
//
// As in conquest.p4 a cell has the number of its window. The difference is the length of the window:
// it says who sent the most in it, not who was in the queue.

#include "base.p4"

const bit<32> COLUMNS = 512;
// 2^23 ns, counted from 1, as registers begin with 0.
#define WINDOW(time_ns) ((bit<32>)((time_ns) >> (23 - FASTER_BITS)) + 1)
const bit<32> ONE_IN = 20;

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    // Set by the controller.
    register<bit<32>>(1) threshold_bytes;
    // A cell: the window's number, and packets.
    register<bit<64>>(COLUMNS) row_0;
    register<bit<64>>(COLUMNS) row_1;
    register<bit<64>>(1) total;
    // The window in which a flow was last reported.
    register<bit<32>>(COLUMNS) reported;

    bit<32> window;
    bit<64> cell;
    bit<32> packets = 0xffffffff;

    action count_in_window() {
        cell = (cell[63:32] == window ? cell : window ++ 32w0) + 1;
    }

    apply {
        bit<32> threshold;
        bit<32> column;
        bit<32> last;
        threshold_bytes.read(threshold, 0);
        window = WINDOW(standard_metadata.egress_time_ns);
        hash(column, HashAlgorithm.crc32, 32w0, { FLOW(hdr, meta), 8w1 }, COLUMNS);
        row_1.read(cell, column);
        count_in_window();
        row_1.write(column, cell);
        packets = cell[31:0];
        hash(column, HashAlgorithm.crc32, 32w0, { FLOW(hdr, meta) }, COLUMNS);
        row_0.read(cell, column);
        count_in_window();
        row_0.write(column, cell);
        if (cell[31:0] < packets) {
            packets = cell[31:0];
        }
        total.read(cell, 0);
        count_in_window();
        total.write(0, cell);
        describe(meta, standard_metadata);
        meta.packets = packets;
        if (meta.depth_bytes >= threshold && packets * ONE_IN >= cell[31:0]) {
            reported.read(last, column);
            if (last != window) {
                reported.write(column, window);
                send_report();
            }
        }
    }
}

#include "main.p4"
