// verify and short packets end the parser with an error.
#include <core.p4>
#include <v1model.p4>

error {
    TooLarge
}

header byte_t {
    bit<8> v;
}

struct headers_t {
    byte_t x;
    byte_t y;
}

struct metadata_t {
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.x);
        verify(hdr.x.v < 10, error.TooLarge);
        packet.extract(hdr.y);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (std.parser_error == error.TooLarge) {
            std.egress_spec = 2;
        } else if (std.parser_error == error.PacketTooShort) {
            std.egress_spec = 3;
        }
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.x);
        packet.emit(hdr.y);
    }
}

#include "main.p4"
