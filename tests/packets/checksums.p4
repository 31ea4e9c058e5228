// A header checksum is verified after the parser and written before the deparser.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<16> a;
    bit<16> sum;
}

struct headers_t {
    h_t h;
}

struct metadata_t {
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control verify_sum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.h.isValid(), { hdr.h.a }, hdr.h.sum, HashAlgorithm.csum16);
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = std.checksum_error == 1 ? 9w2 : 9w1;
        hdr.h.a = hdr.h.a + 1;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control update_sum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum_with_payload(hdr.h.isValid() && hdr.h.a != 0xffff, { hdr.h.a }, hdr.h.sum,
                                     HashAlgorithm.csum16);
    }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.h); }
}

V1Switch(parse(), verify_sum(), ingress(), egress(), update_sum(), deparse()) main;
