// Dapper: who limits a TCP connection, its sender, the network or its receiver?
//
//   data for the watched queue comes: sent before?                           network
//                                     in flight, with one more > window?     receiver
//   an acknowledgment of it comes:    round trip >= least + threshold?       network
//   the first packet of a window of 1.05 ms:  report what was seen in the flow's last window;
//                                             none of these: sender
//
// All this is before the queue, so that what waits in it is in flight, and a round trip contains the
// wait. As in the paper one segment at a time is timed, and the window's shift is that of the SYN.

#include "base.p4"

const bit<32> COLUMNS = 256;
// 2^20 ns, counted from 1, as registers begin with 0.
#define WINDOW(time_ns) ((bit<32>)((time_ns) >> (20 - FASTER_BITS)) + 1)

// `reason` of a report.
const bit<8> SENDER = 1;
const bit<8> NETWORK = 2;
const bit<8> RECEIVER = 4;

const bit<8> SYN = 2;
// The options of Linux' SYN end with a NOP and the window's shift.
const bit<24> NOP_AND_SHIFT = 0x010303;

#define SEQUENCE(tcp) tcp[127:96]
#define ACKNOWLEDGMENT(tcp) tcp[95:64]
#define HEADER_WORDS(tcp) tcp[63:60]
#define FLAGS(tcp) tcp[55:48]
#define WINDOW_FIELD(tcp) tcp[47:32]
// Of sequence numbers, which begin anew after 2^32.
#define IS_BEFORE(one, other) ((one) - (other) > 0x7fffffff)

const bit<32> INGRESS_CLONE = 1;

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    // Set by the controller.
    register<bit<16>>(1) watched_port;
    register<bit<32>>(1) threshold_ns;
    // By flow: the next new sequence number, and what is acknowledged.
    register<bit<32>>(COLUMNS) sent;
    register<bit<32>>(COLUMNS) acknowledged;
    // The receiver's window and the shift that it announced.
    register<bit<32>>(COLUMNS) receive_window;
    register<bit<8>>(COLUMNS) shift;
    // The segment that is timed: its end, and when it came; 0: none.
    register<bit<96>>(COLUMNS) timed;
    register<bit<32>>(COLUMNS) least_ns;
    // The window, packets in it, and reasons.
    register<bit<72>>(COLUMNS) seen;

    bit<32> column;
    bit<8>  reasons = 0;

    action data_comes(bit<32> bytes) {
        bit<32> next;
        bit<32> begin;
        bit<32> room;
        bit<96> segment;
        bit<32> end = SEQUENCE(meta.tcp) + bytes;
        sent.read(next, column);
        acknowledged.read(begin, column);
        receive_window.read(room, column);
        timed.read(segment, column);
        if (IS_BEFORE(SEQUENCE(meta.tcp), next) && next != 0) {
            reasons = reasons | NETWORK;
            // What is sent twice times nothing (Karn's rule).
            timed.write(column, 0);
        } else {
            sent.write(column, end);
            if (begin != 0 && end - begin + bytes > room) {
                reasons = reasons | RECEIVER;
            }
            if (segment == 0) {
                timed.write(column, end ++ standard_metadata.ingress_time_ns);
            }
        }
    }

    action acknowledgment_comes() {
        bit<8>  bits;
        bit<96> segment;
        bit<32> least;
        bit<32> threshold;
        shift.read(bits, column);
        timed.read(segment, column);
        least_ns.read(least, column);
        threshold_ns.read(threshold, 0);
        acknowledged.write(column, ACKNOWLEDGMENT(meta.tcp));
        receive_window.write(column, (bit<32>)WINDOW_FIELD(meta.tcp) << bits);
        if (segment != 0 && !IS_BEFORE(ACKNOWLEDGMENT(meta.tcp), segment[95:64])) {
            bit<32> trip = (bit<32>)(standard_metadata.ingress_time_ns - segment[63:0]);
            timed.write(column, 0);
            if (least == 0 || trip < least) {
                least_ns.write(column, trip);
            } else if (trip - least >= threshold) {
                reasons = reasons | NETWORK;
            }
        }
    }

    // Adds to the flow's window, or reports the last one and begins the next.
    action remember(bit<32> packets) {
        bit<72> last;
        bit<32> window = WINDOW(standard_metadata.ingress_time_ns);
        seen.read(last, column);
        if (last[71:40] == window) {
            seen.write(column, window ++ (last[39:8] + packets) ++ (last[7:0] | reasons));
        } else {
            seen.write(column, window ++ packets ++ reasons);
            if (last[39:8] != 0) {
                meta.packets = last[39:8];
                meta.reason = last[7:0] == 0 ? SENDER : last[7:0];
                clone_preserving_field_list(CloneType.I2E, REPORTS, REPORT_FIELDS);
            }
        }
    }

    apply {
        bit<16> watched;
        watched_port.read(watched, 0);
        routing.apply(hdr, standard_metadata);
        if (hdr.ipv4.isValid() && hdr.ipv4.protocol == IP_PROTOCOL_TCP) {
            meta.time_ns = standard_metadata.ingress_time_ns;
            if ((bit<16>)standard_metadata.egress_spec == watched) {
                bit<32> bytes = (bit<32>)hdr.ipv4.total_len - 20
                                - ((bit<32>)HEADER_WORDS(meta.tcp) << 2);
                hash(column, HashAlgorithm.crc32, 32w0, { FLOW(hdr, meta) }, COLUMNS);
                if (bytes != 0) {
                    data_comes(bytes);
                    remember(1);
                }
            } else if ((bit<16>)standard_metadata.ingress_port == watched) {
                hash(column, HashAlgorithm.crc32, 32w0,
                     { hdr.ipv4.dst_addr, hdr.ipv4.src_addr, hdr.ipv4.protocol,
                       meta.dst_port, meta.src_port }, COLUMNS);
                if (FLAGS(meta.tcp) & SYN == 0) {
                    acknowledgment_comes();
                    if (reasons != 0) {
                        // It is remembered with the flow's next data.
                        bit<72> last;
                        seen.read(last, column);
                        seen.write(column, last[71:8] ++ (last[7:0] | reasons));
                    }
                } else if (meta.tcp_options[31:8] == NOP_AND_SHIFT) {
                    shift.write(column, meta.tcp_options[7:0]);
                }
            }
        }
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == INGRESS_CLONE) {
            become_report.apply(hdr, meta, standard_metadata);
        }
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;
