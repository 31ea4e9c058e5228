// A program that forwards and nothing else: what comes in by port 1 leaves by port 2 and the other
// way round, and so with ports 3 and 4. It parses nothing, so a frame leaves as it came.

#include <core.p4>
#include <v1model.p4>

struct headers_t { }

struct metadata_t { }

parser parse_nothing(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        transition accept;
    }
}

control no_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        bit<9> port = standard_metadata.ingress_port;
        standard_metadata.egress_spec = port & 1 == 1 ? port + 1 : port - 1;
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { }
}

control deparse_nothing(packet_out packet, in headers_t hdr) {
    apply { }
}

V1Switch(parse_nothing(),
         no_checksums(),
         ingress(),
         egress(),
         no_checksums(),
         deparse_nothing()) main;
