#define WIDTH 12
#if WIDTH > 8 && defined(STRICT)
#error not reached
#elif WIDTH > 8
#error WIDTH must be at most 8
#endif
const bit<WIDTH> X = 0;
#ifdef NEVER_CLOSED
/* expected
error_directive.p4:5:1: error: #error WIDTH must be at most 8
    5 | #error WIDTH must be at most 8
      | ^^^^^^
error_directive.p4:8:1: error: this `#if` has no `#endif`
    8 | #ifdef NEVER_CLOSED
      | ^^^^^^
   hint: add `#endif` at the end of the part that depends on it
*/
