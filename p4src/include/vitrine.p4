// SPDX-License-Identifier: Apache-2.0
// vitrine.p4: what a program reads of this router's queues before it decides where a packet goes,
// and the rank by which a packet waits in a queue that is ordered by rank.
// Include it beside v1model.p4 or psa.p4. A read returns the state
// at the instant of the packet's arrival: the packet itself is in no queue yet, and a packet on the
// line has left its queue. docs/queue-reads.md describes them and says what simple_switch does.

#ifndef _VITRINE_P4_
#define _VITRINE_P4_

// Packets and bytes in the output queue of this port and class; 0 if there is no such queue.
extern void queue_depth(in bit<9> port, in bit<8> class,
                        out bit<32> packets, out bit<32> bytes);

// Packets and bytes in the virtual output queue of this input for this port and class; 0 in a router
// without virtual output queues.
extern void voq_depth(in bit<9> input, in bit<9> port, in bit<8> class,
                      out bit<32> packets, out bit<32> bytes);

// Bytes in use of the shared buffer, and its size. The bytes that queues have reserved for
// themselves belong to neither. Without a shared buffer: the bytes in all queues, and 0.
extern void buffer_use(out bit<32> used_bytes, out bit<32> size_bytes);

// The rate of this port's line, 0 if it is unlimited, and the busy share of its last full window
// in units of 0.01 %.
extern void port_rate(in bit<9> port, out bit<64> bits_per_second, out bit<16> busy);

// The rank of this packet: a queue with `order: rank` serves the lowest first, and packets of the
// same rank in the order of arrival. A packet without a rank has 0. The last call counts.
extern void set_rank(in bit<32> rank);

#endif  // _VITRINE_P4_
