header inner_t { bit<8> x; }
header outer_t { inner_t inner; bit<8> y; }
header_union union_t { inner_t i; bit<8> not_a_header; }
header two_t { varbit<8> a; varbit<8> b; }
/* expected
header_field_is_a_header.p4:2:18: error: a header cannot have a field of type `inner_t`
    2 | header outer_t { inner_t inner; bit<8> y; }
      |                  ^^^^^^^^^^^^^^
   hint: its fields are bit, int, varbit, bool and structs of these
header_field_is_a_header.p4:3:35: error: a header union cannot have a field of type `bit<8>`
    3 | header_union union_t { inner_t i; bit<8> not_a_header; }
      |                                   ^^^^^^^^^^^^^^^^^^^^
   hint: its fields are headers
header_field_is_a_header.p4:4:16: error: a header can have one varbit field only
    4 | header two_t { varbit<8> a; varbit<8> b; }
      |                ^^^^^^^^^^^^
   header_field_is_a_header.p4:4:29: the other one
    4 | header two_t { varbit<8> a; varbit<8> b; }
      |                             ^^^^^^^^^^^^
*/
