// A header that is surely not valid: tested, made invalid, or never made valid.
header ethernet_t { bit<16> ether_type; }
header tag_t { bit<12> id; bit<4> rest; }
struct headers_t { ethernet_t ethernet; tag_t tag; }
control c(inout headers_t hdr) {
    apply {
        tag_t fresh;
        fresh.id = 1;
        if (hdr.tag.isValid() && hdr.tag.id == 1) {
            hdr.tag.id = 2;
        } else {
            hdr.ethernet.ether_type = 1;
        }
        if (!hdr.tag.isValid()) {
            hdr.tag.id = 3;
            hdr.tag.setValid();
            hdr.tag.id = 4;
        }
        if (!hdr.ethernet.isValid()) {
            return;
        }
        hdr.ethernet.ether_type = 2;
        hdr.tag.setInvalid();
        hdr.ethernet.ether_type = (bit<16>) hdr.tag.id;
        hdr.tag = fresh;
        hdr.ethernet.ether_type = (bit<16>) hdr.tag.id;
    }
}
/* expected
warning_invalid_header.p4:8:9: warning[invalid-header]: this header is not valid here
    8 |         fresh.id = 1;
      |         ^^^^^^^^
   hint: its fields have no values; call setValid() first, or test isValid()
warning_invalid_header.p4:15:13: warning[invalid-header]: this header is not valid here
   15 |             hdr.tag.id = 3;
      |             ^^^^^^^^^^
   hint: its fields have no values; call setValid() first, or test isValid()
warning_invalid_header.p4:24:45: warning[invalid-header]: this header is not valid here
   24 |         hdr.ethernet.ether_type = (bit<16>) hdr.tag.id;
      |                                             ^^^^^^^^^^
   hint: its fields have no values; call setValid() first, or test isValid()
warning_invalid_header.p4:26:45: warning[invalid-header]: this header is not valid here
   26 |         hdr.ethernet.ether_type = (bit<16>) hdr.tag.id;
      |                                             ^^^^^^^^^^
   hint: its fields have no values; call setValid() first, or test isValid()
*/
