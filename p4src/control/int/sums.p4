// The parts of INT in the checksums of TCP and UDP: lists for sums of 16-bit words (RFC 1071).
//
// csum16 of a list is the complement of its sum, so adding it takes the list away.
//
// A list names fields of headers that are there, and metadata, and nothing else: compilers may copy
// a list before it is summed, and then what a header that is not there held of another packet
// would be counted.

#ifndef VITRINE_CONTROL_INT_SUMS_P4
#define VITRINE_CONTROL_INT_SUMS_P4

#include "../../lib/parsers.p4"

#define INT_SHIM_AND_HEADER                                                                 \
    hdr.int_shim.int_type, hdr.int_shim.next_protocol_type, hdr.int_shim.reserved,          \
    hdr.int_shim.length_words, hdr.int_shim.original,                                       \
    hdr.int_header.version, hdr.int_header.discard, hdr.int_header.hops_exceeded,           \
    hdr.int_header.mtu_exceeded, hdr.int_header.reserved, hdr.int_header.hop_words,         \
    hdr.int_header.remaining_hops, hdr.int_header.bitmap, hdr.int_header.domain_id,         \
    hdr.int_header.domain_bitmap, hdr.int_header.domain_flags

// This node's contribution; 0 counts nothing.
#define INT_PUT_WORDS                                                                       \
    meta.telemetry.put.node_id, meta.telemetry.put.ports, meta.telemetry.put.hop_latency,   \
    meta.telemetry.put.queue, meta.telemetry.put.ingress_time,                              \
    meta.telemetry.put.egress_time, meta.telemetry.put.interfaces,                          \
    meta.telemetry.put.utilisation, meta.telemetry.put.buffer, meta.telemetry.put.complement

// The parts that the sink takes out, and keeps for the report.
#define INT_TAKEN_WORDS                                                                     \
    meta.telemetry.report.shim, meta.telemetry.report.int_header,                           \
    meta.telemetry.report.stack_32, meta.telemetry.report.stack_16,                         \
    meta.telemetry.report.stack_8, meta.telemetry.report.stack_4,                           \
    meta.telemetry.report.stack_2, meta.telemetry.report.stack_1

// hash() takes its result modulo this, that is: all 16 bits.
const bit<32> ALL_OF_16_BITS = 0x10000;

#endif
