#include <core.p4>
#include "headers_of_somebody_else.p4"
/* expected
missing_file.p4:2:1: error: there is no file `headers_of_somebody_else.p4` to include
    2 | #include "headers_of_somebody_else.p4"
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   hint: searched in: p4include
*/
