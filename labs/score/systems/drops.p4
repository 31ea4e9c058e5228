// A drop monitor after NetSeer: the flows whose packets a queue drops, each drop counted.
//
//   dropped by a queue (the switch sends it through egress, instance_type 7):
//      the flow's drops in this window += 1;  1, 2, 4, 8, ...?  report
//
// NetSeer groups the drops of a flow in a table and reports when a flow enters it and at each
// counter's threshold; a cell here has the number of its window of 8.4 ms.

#include "base.p4"

const bit<32> COLUMNS = 512;
#define WINDOW(time_ns) ((bit<32>)((time_ns) >> (23 - FASTER_BITS)) + 1)

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    register<bit<64>>(COLUMNS) drops;

    apply {
        if (standard_metadata.instance_type == DROPPED) {
            bit<32> window = WINDOW(standard_metadata.ingress_time_ns);
            bit<32> column;
            bit<64> cell;
            hash(column, HashAlgorithm.crc32, 32w0, { FLOW(hdr, meta) }, COLUMNS);
            drops.read(cell, column);
            cell = (cell[63:32] == window ? cell : window ++ 32w0) + 1;
            drops.write(column, cell);
            meta.time_ns = standard_metadata.ingress_time_ns;
            meta.packets = cell[31:0];
            meta.reason = standard_metadata.drop_reason;
            if (cell[31:0] & (cell[31:0] - 1) == 0) {
                become_report.apply(hdr, meta, standard_metadata);
            } else {
                mark_to_drop(standard_metadata);
            }
        }
    }
}

#include "main.p4"
