// The results of PSA's externs.
#include <bmv2/psa.p4>

header h_t {
    bit<8>  what;
    bit<8>  index;
    bit<72> data;
    bit<32> result;
}

struct headers_t { h_t h; }
struct empty_t {}

parser read_in(packet_in buffer, out headers_t hdr, inout empty_t meta,
               in psa_ingress_parser_input_metadata_t istd, in empty_t a, in empty_t b) {
    state start {
        buffer.extract(hdr.h);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout empty_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc16;
    Hash<bit<32>>(PSA_HashAlgorithm_t.CRC32) crc32;
    Register<bit<32>, bit<8>>(4, 0x2a) cells;
    Random<bit<16>>(7, 7) seven;
    Counter<bit<32>, bit<8>>(4, PSA_CounterType_t.PACKETS) packets;
    Meter<bit<8>>(4, PSA_MeterType_t.PACKETS) meter;

    apply {
        send_to_port(ostd, (PortId_t) 2);
        packets.count(hdr.h.index);
        if (hdr.h.what == 1) {
            hdr.h.result = (bit<32>) crc16.get_hash(hdr.h.data);
        } else if (hdr.h.what == 2) {
            hdr.h.result = crc32.get_hash(hdr.h.data);
        } else if (hdr.h.what == 3) {
            hdr.h.result = crc32.get_hash(32w100, { hdr.h.data }, 32w10);
        } else if (hdr.h.what == 4) {
            hdr.h.result = cells.read(hdr.h.index);
            cells.write(hdr.h.index, hdr.h.result + 1);
        } else if (hdr.h.what == 5) {
            hdr.h.result = (bit<32>) seven.read();
        } else if (hdr.h.what == 6) {
            PSA_MeterColor_t color = meter.execute(hdr.h.index);
            if (color == PSA_MeterColor_t.GREEN) {
                hdr.h.result = 1;
            } else if (color == PSA_MeterColor_t.YELLOW) {
                hdr.h.result = 2;
            } else {
                hdr.h.result = 3;
            }
        } else if (hdr.h.what == 7) {
            PSA_MeterColor_t color = meter.execute(hdr.h.index, PSA_MeterColor_t.YELLOW);
            hdr.h.result = 0;
            if (color == PSA_MeterColor_t.YELLOW) { hdr.h.result = 2; }
        }
    }
}

control write_in(packet_out buffer, out empty_t a, out empty_t b, out empty_t c,
                 inout headers_t hdr, in empty_t meta, in psa_ingress_output_metadata_t istd) {
    apply { buffer.emit(hdr.h); }
}

parser read_out(packet_in buffer, out headers_t hdr, inout empty_t meta,
                in psa_egress_parser_input_metadata_t istd,
                in empty_t a, in empty_t b, in empty_t c) {
    state start {
        buffer.extract(hdr.h);
        transition accept;
    }
}

control egress(inout headers_t hdr, inout empty_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {}
}

control write_out(packet_out buffer, out empty_t a, out empty_t b, inout headers_t hdr,
                  in empty_t meta, in psa_egress_output_metadata_t istd,
                  in psa_egress_deparser_input_metadata_t edstd) {
    InternetChecksum() sum;
    Checksum<bit<32>>(PSA_HashAlgorithm_t.CRC32) check;
    apply {
        if (hdr.h.what == 8) {
            sum.add({ 16w0x4500, 16w0x0073, 16w0x0000, 16w0x4000, 16w0x4011, 16w0xc0a8 });
            sum.add({ 16w0x0001, 16w0xc0a8, 16w0x00c7, 16w0x1234 });
            sum.subtract({ 16w0x1234 });
            hdr.h.result = (bit<32>) sum.get();
        }
        if (hdr.h.what == 9) {
            check.update(hdr.h.data[71:40]);
            check.update(hdr.h.data[39:0]);
            hdr.h.result = check.get();
        }
        buffer.emit(hdr.h);
    }
}

PSA_Switch(IngressPipeline(read_in(), ingress(), write_in()), PacketReplicationEngine(),
           EgressPipeline(read_out(), egress(), write_out()), BufferingQueueingEngine()) main;
