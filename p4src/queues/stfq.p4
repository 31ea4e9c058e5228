// Start-time fair queueing (Goyal, Vin, Cheng, SIGCOMM 1996) as a rank: each flow gets the same share
// of the port, in bytes.
//
//   start = max(virtual time, finish of the flow's packet before)     rank = start
//   finish = start + length
//
// The virtual time is the start of the packet that left last. A flow is a pair of addresses with its
// ports; flows in one cell share. One port is ranked: the virtual time is its own.

#include "paths.p4"

#define FLOW_CELLS 1024

register<bit<32>>(1) virtual_time;

control decide(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    register<bit<32>>(FLOW_CELLS) finish_of_flow;

    apply {
        bit<32> cell;
        bit<32> finish;
        hash(cell, HashAlgorithm.crc32, 32w0,
             { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, meta.l4.src, meta.l4.dst }, 32w1024);
        finish_of_flow.read(finish, cell);
        virtual_time.read(meta.rank, 0);
        if (finish > meta.rank) {
            meta.rank = finish;
        }
        finish_of_flow.write(cell, meta.rank + standard_metadata.packet_length);
        set_rank(meta.rank);
    }
}

#define RANKED_EGRESS virtual_time.write(0, meta.rank);
#include "router.p4"
