// The report that every telemetry system of the scoreboard sends to its controller (labs/score).

#ifndef VITRINE_LIB_SCORE_REPORT_P4
#define VITRINE_LIB_SCORE_REPORT_P4

#include "headers.p4"

// One report. Fields that a system does not know stay 0.
@controller_header("packet_in")
header system_report_t {
    bit<64>     time_ns;      // when the data plane made it
    bit<32>     depth_bytes;  // of the queue, at that instant
    bit<32>     wait_ns;      // of the packet that it describes
    bit<32>     packets;      // packets of the flow that it stands for
    bit<8>      reason;       // the system's own
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
    bit<16>     src_port;
    bit<16>     dst_port;
    bit<8>      protocol;
}

#endif
