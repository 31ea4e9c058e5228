// ConQuest: when a packet leaves a deep queue, its flow's share of the packets ahead is estimated.
//
//   leaves its queue:  windows of 131 us, by the time of departure
//      this window's snapshot:              flow's packets += 1
//      snapshots since the packet arrived:  packets of its flow, added up
//      that is 5 % of the queue it found, and the queue was deep?  report, once a flow and window
//
// A snapshot is a count-min sketch of two rows. The paper cleans one snapshot while it reads the
// others; here a cell has the number of its window, and counts as 0 in another one.

#include "base.p4"

const bit<32> COLUMNS = 128;
#define SNAPSHOTS 8
// 2^17 ns, counted from 1, as registers begin with 0.
#define WINDOW(time_ns) ((bit<32>)((time_ns) >> (17 - FASTER_BITS)) + 1)
// 5 % is one in twenty.
const bit<32> ONE_IN = 20;

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    // Set by the controller.
    register<bit<32>>(1) threshold_bytes;
    // Snapshot by snapshot. A cell: the window's number, and packets.
    register<bit<64>>(COLUMNS * SNAPSHOTS) row_0;
    register<bit<64>>(COLUMNS * SNAPSHOTS) row_1;
    // The window in which a flow was last reported.
    register<bit<32>>(COLUMNS * SNAPSHOTS) reported;

    bit<32> window;
    bit<32> since;
    bit<32> column_0;
    bit<32> column_1;
    bit<64> cell_0;
    bit<64> cell_1;
    bit<32> packets = 0;

    action read_snapshot(bit<32> of) {
        bit<32> first = (of % SNAPSHOTS) * COLUMNS;
        row_0.read(cell_0, first + column_0);
        row_1.read(cell_1, first + column_1);
        cell_0 = cell_0[63:32] == of ? cell_0 : of ++ 32w0;
        cell_1 = cell_1[63:32] == of ? cell_1 : of ++ 32w0;
    }

    action count_packet() {
        bit<32> first = (window % SNAPSHOTS) * COLUMNS;
        read_snapshot(window);
        cell_0 = cell_0 + 1;
        cell_1 = cell_1 + 1;
        row_0.write(first + column_0, cell_0);
        row_1.write(first + column_1, cell_1);
    }

    action add_snapshot() {
        packets = packets + (cell_0[31:0] < cell_1[31:0] ? cell_0[31:0] : cell_1[31:0]);
    }

#define LOOK_BACK(windows)                                   \
    if (since + windows <= window) {                         \
        read_snapshot(window - windows);                     \
        add_snapshot();                                      \
    }

    apply {
        bit<32> threshold;
        bit<32> last;
        threshold_bytes.read(threshold, 0);
        window = WINDOW(standard_metadata.egress_time_ns);
        since = WINDOW(standard_metadata.ingress_time_ns);
        hash(column_0, HashAlgorithm.crc32, 32w0, { FLOW(hdr, meta) }, COLUMNS);
        hash(column_1, HashAlgorithm.crc32, 32w0, { FLOW(hdr, meta), 8w1 }, COLUMNS);
        count_packet();
        add_snapshot();
        LOOK_BACK(1)
        LOOK_BACK(2)
        LOOK_BACK(3)
        LOOK_BACK(4)
        LOOK_BACK(5)
        LOOK_BACK(6)
        LOOK_BACK(7)
        describe(meta, standard_metadata);
        // The queue that the packet found.
        meta.depth_bytes = standard_metadata.enq_qdepth_bytes;
        meta.packets = packets;
        if (meta.depth_bytes >= threshold
            && packets * ONE_IN >= (bit<32>)standard_metadata.enq_qdepth) {
            hash(column_0, HashAlgorithm.crc32, 32w0, { FLOW(hdr, meta) }, COLUMNS * SNAPSHOTS);
            reported.read(last, column_0);
            if (last != window) {
                reported.write(column_0, window);
                send_report();
            }
        }
    }
}

#include "main.p4"
