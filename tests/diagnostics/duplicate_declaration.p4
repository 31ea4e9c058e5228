const bit<8> TYPE_IPV4 = 1;
header ipv4_t { bit<8> ttl; bit<8> ttl; }
const bit<16> TYPE_IPV4 = 0x800;
/* expected
duplicate_declaration.p4:2:36: error: field `ttl` is declared twice
    2 | header ipv4_t { bit<8> ttl; bit<8> ttl; }
      |                                    ^^^
   duplicate_declaration.p4:2:24: first declared here
    2 | header ipv4_t { bit<8> ttl; bit<8> ttl; }
      |                        ^^^
duplicate_declaration.p4:3:15: error: `TYPE_IPV4` is declared twice
    3 | const bit<16> TYPE_IPV4 = 0x800;
      |               ^^^^^^^^^ declared again here
   duplicate_declaration.p4:1:14: first declared here
    1 | const bit<8> TYPE_IPV4 = 1;
      |              ^^^^^^^^^
   hint: give one of the two another name
*/
