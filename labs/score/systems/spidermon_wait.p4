// How both routers of SpiderMon count: the wait that a packet carries, and epochs.

#ifndef VITRINE_SCORE_SPIDERMON_WAIT_P4
#define VITRINE_SCORE_SPIDERMON_WAIT_P4

// Sixteen bits of 256 ns each hold 16.8 ms; longer ones count as that.
#define WAIT_SHIFT 8
#define WAIT(standard_metadata) WAIT_OF((standard_metadata).egress_time_ns - (standard_metadata).ingress_time_ns)
#define WAIT_OF(wait_ns) (bit<16>)(((wait_ns) >> WAIT_SHIFT) > 0xffff ? 0xffff : ((wait_ns) >> WAIT_SHIFT))
// 2^20 ns, counted from 1, as registers begin with 0.
#define EPOCH(time_ns) ((bit<32>)((time_ns) >> (20 - FASTER_BITS)) + 1)

#endif
