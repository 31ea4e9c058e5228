#include <core.p4>
#include <pna.p4>
control c(inout bit<8> x) { apply {} }
/* expected
other_architecture.p4:2:1: error: there is no file `pna.p4` to include
    2 | #include <pna.p4>
      | ^^^^^^^^^^^^^^^^^
   hint: pna.p4 declares the Portable NIC Architecture (PNA); this compiler is for v1model, BMv2's PSA and Tofino: #include <v1model.p4>, <psa.p4>, <tna.p4> or <t2na.p4>
*/
