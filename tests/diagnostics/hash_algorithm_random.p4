#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; }
struct headers_t { h_t h; }
struct metadata_t { }
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}
control nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action_selector(HashAlgorithm.random, 16, 8) selector;
    action forward(bit<9> port) { std.egress_spec = port; }
    table t {
        key = { hdr.h.a : selector; }
        actions = { forward; }
        implementation = selector;
    }
    apply {
        t.apply();
        hash(hdr.h.a, HashAlgorithm.random, 8w0, { hdr.h.a }, 8w16);
    }
}
V1Switch(parse(), nothing(), ingress(), egress(), nothing(), deparse()) main;
/* expected
hash_algorithm_random.p4:19:5: error: this switch has no hash algorithm `random`
   19 |     action_selector(HashAlgorithm.random, 16, 8) selector;
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   hint: use crc32, crc16, csum16, xor16 or identity; the function random() makes random numbers
hash_algorithm_random.p4:28:9: error: this switch has no hash algorithm `random`
   28 |         hash(hdr.h.a, HashAlgorithm.random, 8w0, { hdr.h.a }, 8w16);
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   hint: use crc32, crc16, csum16, xor16 or identity; the function random() makes random numbers
*/
