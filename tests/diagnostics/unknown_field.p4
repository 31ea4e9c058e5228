header ethernet_t { bit<48> dst_addr; bit<48> src_addr; bit<16> ether_type; }
struct headers_t { ethernet_t ethernet; }
control c(inout headers_t hdr) {
    apply {
        hdr.ethernet.ethertype = 0x0800;
        hdr.ethernet.dst_adr = hdr.ethernet.src_addr;
        hdr.ipv4.ttl = 1;
    }
}
/* expected
unknown_field.p4:5:22: error: `ethernet_t` has no member `ethertype`
    5 |         hdr.ethernet.ethertype = 0x0800;
      |                      ^^^^^^^^^
   hint: is `ether_type` meant?
unknown_field.p4:6:22: error: `ethernet_t` has no member `dst_adr`
    6 |         hdr.ethernet.dst_adr = hdr.ethernet.src_addr;
      |                      ^^^^^^^
   hint: is `dst_addr` meant?
unknown_field.p4:7:13: error: `headers_t` has no member `ipv4`
    7 |         hdr.ipv4.ttl = 1;
      |             ^^^^
*/
