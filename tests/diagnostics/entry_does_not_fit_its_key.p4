#include <core.p4>
control c(in bit<32> a, in bit<16> b) {
    action permit() { }
    action deny(bit<4> reason) { }
    table acl {
        key = { a : lpm; b : ternary; }
        actions = { permit; deny; }
        default_action = permit();
        const entries = {
            (0x0A000000 &&& 0xFF000000, _) : permit();
            (0x0A000000 &&& 0xFF00FF00, 80) : permit();
            (0x0A000001, 80 .. 90) : deny(1);
            0x0A000002 : permit();
            (1, 1) : deny();
        }
    }
    apply { acl.apply(); }
}
/* expected
entry_does_not_fit_its_key.p4:12:26: error: only range keys take ranges
   12 |             (0x0A000001, 80 .. 90) : deny(1);
      |                          ^^
entry_does_not_fit_its_key.p4:13:13: error: 1 value is given here for 2 keys
   13 |             0x0A000002 : permit();
      |             ^^^^^^^^^^
entry_does_not_fit_its_key.p4:14:22: error: `deny` needs an argument for `reason`
   14 |             (1, 1) : deny();
      |                      ^^^^^^
   entry_does_not_fit_its_key.p4:4:17: the parameter is declared here
    4 |     action deny(bit<4> reason) { }
      |                 ^^^^^^^^^^^^^
*/
