bit<8> counter_value = 0;
const bit<8> FINE = 0;
/* expected
variable_at_top_level.p4:1:1: error: there are no variables outside of controls, parsers and functions
    1 | bit<8> counter_value = 0;
      | ^^^^^^^^^^^^^^^^^^^^^^^^
   hint: write `const` in front, or move it inside
*/
