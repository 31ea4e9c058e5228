#include <core.p4>
control c(inout standard_metadata_t standard) {
    apply { mark_to_drop(standard); }
}
/* expected
include_is_missing.p4:2:17: error: there is no type `standard_metadata_t` here
    2 | control c(inout standard_metadata_t standard) {
      |                 ^^^^^^^^^^^^^^^^^^^
   hint: v1model.p4 declares it: write #include <v1model.p4> at the top
include_is_missing.p4:3:13: error: there is no function or action `mark_to_drop` here
    3 |     apply { mark_to_drop(standard); }
      |             ^^^^^^^^^^^^
   hint: v1model.p4 declares it: write #include <v1model.p4> at the top
*/
