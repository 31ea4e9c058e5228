// SPDX-License-Identifier: Apache-2.0
// v1model.p4: the architecture of BMv2's simple_switch, which our switch follows.
//
//   Parser -> VerifyChecksum -> Ingress -> [queues] -> Egress -> ComputeChecksum -> Deparser
//
// Names, types and order are those of the standard file, so that programs, P4Info and BMv2 JSON
// fit every compiler and switch. The kit's additions are at the end of standard_metadata_t; each
// added field has an @alias, and a switch that does not know the alias leaves the field 0.
//
// Define V1MODEL_VERSION as 20200408 or more for counters, meters and registers with a free index
// type, and for PortId_t.

#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include "core.p4"

#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif

match_kind {
    // Low and high bound, both included.
    range,
    // Equal, or anything.
    optional,
    // No match at all: input of the hash that picks a member of an action_selector.
    selector
}

const bit<32> __v1model_version = V1MODEL_VERSION;

#if V1MODEL_VERSION >= 20200408
typedef bit<9>  PortId_t;
#endif

// Metadata that the switch and the program exchange about a packet. An @alias gives the name under
// which the switch knows a field.
@metadata @name("standard_metadata")
struct standard_metadata_t {
#if V1MODEL_VERSION >= 20200408
    PortId_t    ingress_port;
    PortId_t    egress_spec;
    PortId_t    egress_port;
#else
    bit<9>      ingress_port;   // Where the packet came in.
    bit<9>      egress_spec;    // Set in ingress: where it is to leave; 511 drops it.
    bit<9>      egress_port;    // In egress: where it will leave. Do not write.
#endif
    bit<32>     instance_type;  // 0 normal, 1 ingress clone, 2 egress clone, 4 recirculated,
                                // 5 replicated, 6 resubmitted.
    bit<32>     packet_length;  // In bytes.

    // Known in egress only: the queue the packet came through.
    @alias("queueing_metadata.enq_timestamp")
    bit<32> enq_timestamp;      // When it was enqueued, in microseconds.
    @alias("queueing_metadata.enq_qdepth")
    bit<19> enq_qdepth;         // Packets in the queue then.
    @alias("queueing_metadata.deq_timedelta")
    bit<32> deq_timedelta;      // Microseconds it waited.
    @alias("queueing_metadata.deq_qdepth")
    bit<19> deq_qdepth;         // Packets in the queue when it left.

    @alias("intrinsic_metadata.ingress_global_timestamp")
    bit<48> ingress_global_timestamp;   // Start of ingress, in microseconds.
    @alias("intrinsic_metadata.egress_global_timestamp")
    bit<48> egress_global_timestamp;    // Start of egress, in microseconds.
    @alias("intrinsic_metadata.mcast_grp")
    bit<16> mcast_grp;          // Set in ingress: replicate to this group's ports; 0 is none.
    @alias("intrinsic_metadata.egress_rid")
    bit<16> egress_rid;         // In egress: which replica this is.
    bit<1>  checksum_error;     // 1 after a verify_checksum that failed.
    error parser_error;         // The result of the parser.
    @alias("intrinsic_metadata.priority")
    bit<3> priority;            // Set in ingress: the class to queue in; 0 is the lowest.

    // The kit's own, all known in egress only.
    @alias("queueing_metadata.qid")
    bit<8> qid;                 // The class the packet was queued in.
    @alias("vitrine_metadata.enq_qdepth_bytes")
    bit<32> enq_qdepth_bytes;   // Bytes in the queue when it was enqueued.
    @alias("vitrine_metadata.deq_qdepth_bytes")
    bit<32> deq_qdepth_bytes;   // Bytes in the queue when it left.
    @alias("vitrine_metadata.queue_limit_bytes")
    bit<32> queue_limit_bytes;  // How many bytes the queue takes.
    @alias("vitrine_metadata.input_wait_us")
    bit<32> input_wait_us;      // Microseconds in the input stage.
    @alias("vitrine_metadata.input_depth")
    bit<19> input_depth;        // Packets before it in the input queue or VOQ on arrival.
    @alias("vitrine_metadata.port_utilisation")
    bit<16> port_utilisation;   // Of the output port, recently, in 0.01 %: 10,000 is all of it.
    @alias("vitrine_metadata.aqm_verdict")
    bit<8> aqm_verdict;         // 0 enqueued, 1 marked with ECN.
    @alias("vitrine_metadata.is_exact")
    bit<1>  is_exact;           // 1 on a switch that fills the fields below.
    @alias("vitrine_metadata.ingress_time_ns")
    bit<64> ingress_time_ns;    // When the packet came in.
    @alias("vitrine_metadata.egress_time_ns")
    bit<64> egress_time_ns;     // When it left its queue.
    @alias("vitrine_metadata.buffer_bytes")
    bit<32> buffer_bytes;       // Bytes in all queues of the router when it left its own.

    // Of a packet that was dropped and goes to the mirror of drops (instance_type 7).
    @alias("vitrine_metadata.drop_reason")
    bit<8>  drop_reason;        // The number in vitrine.v1.DropReason; 0 if it was not dropped.
    @alias("vitrine_metadata.drop_port")
    bit<9>  drop_port;          // The port it was to leave by.
    @alias("vitrine_metadata.drop_qid")
    bit<8>  drop_qid;           // The class it was to wait in.

    // Set in ingress: which profile of WRED judges the packet, in the numbers of a meter's colours.
    @alias("vitrine_metadata.drop_precedence")
    bit<2>  drop_precedence;    // 0 green, 1 yellow, 2 and 3 red.
}

// The unit of a counter.
enum CounterType {
    packets,
    bytes,
    packets_and_bytes
}

// The unit of a meter.
enum MeterType {
    packets,
    bytes
}

// An array of counters that the control plane reads.
extern counter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    counter(bit<32> size, CounterType type);
    // Counts this packet in element index; nothing happens if there is none.
#if V1MODEL_VERSION >= 20200408
    void count(in I index);
#else
    void count(in bit<32> index);
#endif
}

// A counter for each entry of the table that names it in `counters`.
extern direct_counter {
    direct_counter(CounterType type);
    // Every hit counts by itself: calling this is never needed.
    void count();
}

#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

// An array of two-rate three-colour meters (RFC 2698); the control plane sets the rates.
extern meter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    meter(bit<32> size, MeterType type);
    // Measures this packet with element index and gives its colour: 0 green, 1 yellow, 2 red.
#if V1MODEL_VERSION >= 20200408
    void execute_meter<T>(in I index, out T result);
#else
    void execute_meter<T>(in bit<32> index, out T result);
#endif
}

// A meter for each entry of the table that names it in `meters`.
extern direct_meter<T> {
    direct_meter(MeterType type);
    // In an action of that table: the colour of this packet.
    void read(out T result);
}

// An array of values that the program reads and writes and packets share.
#if V1MODEL_VERSION >= 20200408
extern register<T, I>
#else
extern register<T>
#endif
{
    register(bit<32> size);
    // The value of element index; undefined if there is none.
    @noSideEffects
#if V1MODEL_VERSION >= 20200408
    void read(out T result, in I index);
#else
    void read(out T result, in bit<32> index);
#endif
    // Sets element index; nothing happens if there is none. Read and write are one step for other
    // packets only inside of an @atomic block.
#if V1MODEL_VERSION >= 20200408
    void write(in I index, in T value);
#else
    void write(in bit<32> index, in T value);
#endif
}

// A table's `implementation`: its entries name members, which hold actions and may be shared.
extern action_profile {
    action_profile(bit<32> size);
}

// A random number from lo to hi, both included.
extern void random<T>(out T result, in T lo, in T hi);

// Sends data to the control plane when ingress ends; receiver is not used.
extern void digest<T>(in bit<32> receiver, in T data);

// The algorithm of hash and of the checksums.
enum HashAlgorithm {
    crc32,
    crc32_custom,
    crc16,
    crc16_custom,
    random,
    identity,
    csum16,
    xor16
}

@deprecated("Please use mark_to_drop(standard_metadata) instead.")
extern void mark_to_drop();

// Sets egress_spec to the drop port and mcast_grp to 0: the packet is dropped at the end of the
// pipeline unless something later changes them.
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

// result = base + (hash of data) mod max; base alone if max is 0.
@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

// An action profile whose entries may also name groups; a hash over the table's `selector` keys
// picks one member.
extern action_selector {
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

// At the end of which pipeline a clone is made.
enum CloneType {
    I2E,
    E2E
}

@deprecated("Please use verify_checksum/update_checksum instead.")
extern Checksum16 {
    Checksum16();
    bit<16> get<D>(in D data);
}

// In VerifyChecksum: sets checksum_error to 1 if condition holds and checksum is wrong for data.
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

// In ComputeChecksum: sets checksum for data if condition holds.
@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

// The same with the packet's payload, what no header was extracted from, behind data.
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

// Makes a copy at the end of the pipeline, for the ports of the mirror session. Of an ingress clone
// the headers are those that arrived, of an egress clone those that leave.
extern void clone(in CloneType type, in bit<32> session);

// Sends the packet through ingress again, as it arrived, when ingress ends.
@deprecated("Please use 'resubmit_preserving_field_list' instead")
extern void resubmit<T>(in T data);
// The same, and the metadata fields with @field_list(index) keep their values.
extern void resubmit_preserving_field_list(bit<8> index);

// Sends the packet through the whole switch again, as it leaves, when egress ends.
@deprecated("Please use 'recirculate_preserving_field_list' instead")
extern void recirculate<T>(in T data);
// The same, and the metadata fields with @field_list(index) keep their values.
extern void recirculate_preserving_field_list(bit<8> index);

@deprecated("Please use 'clone_preserving_field_list' instead")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);
// clone, and the metadata fields with @field_list(index) keep their values in the copy.
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);

// Shortens the packet to length bytes when it leaves.
extern void truncate(in bit<32> length);

// Stops the switch when check does not hold.
extern void assert(in bool check);

// The same for the switch; a verifier may take check for granted.
extern void assume(in bool check);

// Writes a line to the switch's log; each {} of msg stands for a field of data.
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

parser Parser<H, M>(packet_in b,
                    out H parsedHdr,
                    inout M meta,
                    inout standard_metadata_t standard_metadata);

control VerifyChecksum<H, M>(inout H hdr,
                             inout M meta);
@pipeline
control Ingress<H, M>(inout H hdr,
                      inout M meta,
                      inout standard_metadata_t standard_metadata);
@pipeline
control Egress<H, M>(inout H hdr,
                     inout M meta,
                     inout standard_metadata_t standard_metadata);

control ComputeChecksum<H, M>(inout H hdr,
                              inout M meta);

@deparser
control Deparser<H>(packet_out b, in H hdr);

package V1Switch<H, M>(Parser<H, M> p,
                       VerifyChecksum<H, M> vr,
                       Ingress<H, M> ig,
                       Egress<H, M> eg,
                       ComputeChecksum<H, M> ck,
                       Deparser<H> dep
                       );

#endif  // _V1_MODEL_P4_
