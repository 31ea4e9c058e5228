// PrintQueue's time windows: who left the queue when, the more coarsely the longer ago.
//
//   leaves its queue:  window 0: a cell for each 8.2 us takes the packet's flow
//                      the flow that was there, one round older, moves on
//                      window 1: a cell for each 16.4 us, and so on to window 2
//                      found a deeper queue than any packet of this period?  it is the victim
//
// Packets that left while the victim waited were ahead of it. The controller reads all windows every
// 4.2 ms. The paper's queue monitor, for packets that raised the queue long before, is left out.

#include "base.p4"

// A window has 128 cells.
const bit<32> CELLS = 128;
#define CELL_BITS 7
// A cell of the first window is 2^13 ns, and a cell of the last one four times as long.
#define FIRST_CELL_BITS (13 - FASTER_BITS)
// A period is as long as the last window, counted from 1, as registers begin with 0.
#define PERIOD(time_ns) ((bit<32>)((time_ns) >> (FIRST_CELL_BITS + 2 + CELL_BITS)) + 1)

// A cell: round 32 (from 1), source 32, destination 32, protocol 8, ports 16 and 16.
typedef bit<136> cell_t;

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    register<cell_t>(CELLS) window_0;
    register<cell_t>(CELLS) window_1;
    register<cell_t>(CELLS) window_2;
    // Period 32, depth 32, arrival 64, departure 64.
    register<bit<192>>(1) victim;

    // Units of the present window's cells since time 0.
    bit<32> tick;
    bit<104> flow;
    cell_t old;

#define ROUND (tick >> CELL_BITS) + 1
#define PUT(window)                                              \
    window.read(old, tick % CELLS);                              \
    window.write(tick % CELLS, (ROUND) ++ flow);

// The flow that was in the cell left a window ago.
#define IS_LAST_ROUND old[135:104] != 0 && old[135:104] == (tick >> CELL_BITS)
#define MOVE_ON(window)                                          \
    flow = old[103:0];                                           \
    tick = (tick - CELLS) >> 1;                                  \
    PUT(window)

    apply {
        bit<192> deepest;
        bit<32> period = PERIOD(standard_metadata.egress_time_ns);
        victim.read(deepest, 0);
        if (deepest[191:160] != period || deepest[159:128] < standard_metadata.enq_qdepth_bytes) {
            victim.write(0, period ++ standard_metadata.enq_qdepth_bytes
                            ++ standard_metadata.ingress_time_ns
                            ++ standard_metadata.egress_time_ns);
        }
        flow = hdr.ipv4.src_addr ++ hdr.ipv4.dst_addr ++ hdr.ipv4.protocol
               ++ meta.src_port ++ meta.dst_port;
        tick = (bit<32>)(standard_metadata.egress_time_ns >> FIRST_CELL_BITS);
        PUT(window_0)
        if (IS_LAST_ROUND) {
            MOVE_ON(window_1)
            if (IS_LAST_ROUND) {
                MOVE_ON(window_2)
            }
        }
    }
}

#include "main.p4"
