#include "cyclic_include.p4"
const bit<8> X = 1;
/* expected
cyclic_include.p4:1:1: error: `cyclic_include.p4` is included too often or too deep
    1 | #include "cyclic_include.p4"
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   hint: a file that includes itself needs a guard: #ifndef X, #define X, #endif
*/
