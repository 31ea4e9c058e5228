struct status_t {
    error reason;
}
/* expected
error_without_core.p4:2:5: error: there is no type `error` here: no errors are declared
    2 |     error reason;
      |     ^^^^^
   hint: core.p4 declares it: #include <core.p4>
*/
