// HashPipe: a pipeline of hash tables that keeps the flows with the most packets of a window.
//
//   leaves its queue:  stage 0: the flow goes in; a flow that it replaces is carried on
//                      stage 1, 2, 3: the carried flow adds to its own cell, takes an empty one,
//                                     or replaces a smaller flow, which is carried on
//
// The controller reads all cells at the end of each window of 8.4 ms; it also reads the deepest
// queue of the window, since HashPipe knows no queues. A cell has the number of its window and is
// empty in another one.

#include "base.p4"

const bit<32> COLUMNS = 64;
// 2^23 ns, counted from 1, as registers begin with 0.
#define WINDOW(time_ns) ((bit<32>)((time_ns) >> (23 - FASTER_BITS)) + 1)

// A cell: window 32, packets 32, source 32, destination 32, protocol 8, ports 16 and 16.
typedef bit<168> cell_t;

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    register<cell_t>(COLUMNS) stage_0;
    register<cell_t>(COLUMNS) stage_1;
    register<cell_t>(COLUMNS) stage_2;
    register<cell_t>(COLUMNS) stage_3;
    // Window and bytes.
    register<bit<64>>(1) deepest;

    bit<32> window;
    cell_t  cell;
    cell_t  carried;
    bit<32> column;

    // Finds the carried flow's cell; the hash differs by stage.
#define COLUMN(stage) hash(column, HashAlgorithm.crc32, 32w0, { carried[103:0], 8w ## stage }, COLUMNS)

#define STAGE(stage)                                                              \
    if (carried[135:104] != 0) {                                                  \
        COLUMN(stage);                                                            \
        stage_ ## stage.read(cell, column);                                       \
        if (cell[167:136] == window && cell[103:0] == carried[103:0]) {           \
            cell[135:104] = cell[135:104] + carried[135:104];                     \
            stage_ ## stage.write(column, cell);                                  \
            carried = 0;                                                          \
        } else if (cell[167:136] != window) {                                     \
            stage_ ## stage.write(column, carried);                               \
            carried = 0;                                                          \
        } else if (cell[135:104] < carried[135:104]) {                            \
            stage_ ## stage.write(column, carried);                               \
            carried = cell;                                                       \
        }                                                                         \
    }

    apply {
        window = WINDOW(standard_metadata.egress_time_ns);
        bit<64> deep;
        deepest.read(deep, 0);
        if (deep[63:32] != window || deep[31:0] < standard_metadata.deq_qdepth_bytes) {
            deepest.write(0, window ++ standard_metadata.deq_qdepth_bytes);
        }
        carried = window ++ 32w1 ++ hdr.ipv4.src_addr ++ hdr.ipv4.dst_addr ++ hdr.ipv4.protocol
                  ++ meta.src_port ++ meta.dst_port;
        // The first stage always takes the flow.
        COLUMN(0);
        stage_0.read(cell, column);
        if (cell[167:136] == window && cell[103:0] == carried[103:0]) {
            cell[135:104] = cell[135:104] + 1;
            stage_0.write(column, cell);
            carried = 0;
        } else {
            stage_0.write(column, carried);
            carried = cell[167:136] == window ? cell : 0;
        }
        STAGE(1)
        STAGE(2)
        STAGE(3)
    }
}

#include "main.p4"
