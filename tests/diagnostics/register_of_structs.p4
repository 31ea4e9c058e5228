#include <v1model.p4>
header byte_t { bit<8> value; }
struct headers_t { byte_t byte; }
struct cell_t { bit<8> count; bit<8> last; }
struct metadata_t { cell_t cell; }
parser p(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.byte); transition accept; }
}
control none(inout headers_t hdr, inout metadata_t meta) { apply { } }
control out_(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<cell_t>(4) cells;
    apply {
        std.egress_spec = 1;
        cells.read(meta.cell, 0);
        cells.write(0, meta.cell);
    }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
V1Switch(p(), none(), ingress(), egress(), none(), out_()) main;
/* expected
register_of_structs.p4:15:20: error: registers of this switch hold numbers, no structs
   15 |         cells.read(meta.cell, 0);
      |                    ^^^^^^^^^
   hint: use one register for each field of the struct
register_of_structs.p4:16:24: error: registers of this switch hold numbers, no structs
   16 |         cells.write(0, meta.cell);
      |                        ^^^^^^^^^
   hint: use one register for each field of the struct
*/
