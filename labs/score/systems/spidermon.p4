// SpiderMon, first router: packets carry how long they have waited, and a trace comes back for those
// that waited too long.
//
//   leaves the watched queue:  the packet carries its wait on
//                              its flow's packets in this epoch of 1.05 ms += 1
//   a trace comes back:        it becomes a report, upon which the controller reads the epoch
//
// The second router is spidermon_sink.p4. The wait is in the IPv4 identification, which means
// nothing in packets that are not fragmented (RFC 6864).

#include "base.p4"
#include "spidermon_wait.p4"

const bit<32> COLUMNS = 256;
// A cell: epoch 32, packets 32, source 32, destination 32, protocol 8, ports 16 and 16.
typedef bit<168> cell_t;

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.ethernet.ether_type == ETHERTYPE_TRACE) {
            standard_metadata.egress_spec = CPU_PORT;
        } else {
            routing.apply(hdr, standard_metadata);
        }
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    // Set by the controller.
    register<bit<16>>(1) watched_port;
    // Even and odd epochs, so that one can be read while the other is written.
    register<cell_t>(COLUMNS) records_0;
    register<cell_t>(COLUMNS) records_1;

    cell_t  cell;
    bit<32> column;

    // Of two flows in one cell the second one is not counted.
#define COUNT(records)                                                                \
    records.read(cell, column);                                                       \
    if (cell[167:136] != epoch) {                                                     \
        records.write(column, epoch ++ 32w1 ++ flow);                                 \
    } else if (cell[103:0] == flow) {                                                 \
        records.write(column, epoch ++ (cell[135:104] + 1) ++ flow);                  \
    }

    apply {
        bit<16> watched;
        watched_port.read(watched, 0);
        if (standard_metadata.egress_port == CPU_PORT && hdr.ipv4.isValid()) {
            meta.time_ns = standard_metadata.ingress_time_ns;
            meta.wait_ns = (bit<32>)hdr.ipv4.identification << WAIT_SHIFT;
            become_report.apply(hdr, meta, standard_metadata);
        } else if ((bit<16>)standard_metadata.egress_port == watched && hdr.ipv4.isValid()) {
            bit<32> epoch = EPOCH(standard_metadata.egress_time_ns);
            bit<104> flow = hdr.ipv4.src_addr ++ hdr.ipv4.dst_addr ++ hdr.ipv4.protocol
                            ++ meta.src_port ++ meta.dst_port;
            hdr.ipv4.identification = WAIT(standard_metadata);
            hash(column, HashAlgorithm.crc32, 32w0, { FLOW(hdr, meta) }, COLUMNS);
            if (epoch & 1 == 0) {
                COUNT(records_0)
            } else {
                COUNT(records_1)
            }
        }
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;
