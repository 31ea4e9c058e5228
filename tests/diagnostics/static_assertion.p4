#include <core.p4>
const bit<32> SIZE = 100;
const bool FITS = static_assert(SIZE <= 64, "the table has room for 64 entries");
/* expected
static_assertion.p4:3:19: error: static_assert failed: the table has room for 64 entries
    3 | const bool FITS = static_assert(SIZE <= 64, "the table has room for 64 entries");
      |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
*/
