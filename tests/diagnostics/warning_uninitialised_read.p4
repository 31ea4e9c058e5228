control c(inout bit<8> x, in bool flag) {
    apply {
        bit<8> sometimes;
        bit<8> always;
        bit<8> never;
        if (flag) {
            sometimes = 1;
            always = 1;
        } else {
            always = 2;
        }
        x = always + sometimes;
        x = never;
    }
}
/* expected
warning_uninitialised_read.p4:12:22: warning[uninitialized-use]: `sometimes` is read before it has a value
   12 |         x = always + sometimes;
      |                      ^^^^^^^^^
   warning_uninitialised_read.p4:3:16: declared without a value here
    3 |         bit<8> sometimes;
      |                ^^^^^^^^^
   hint: give it one where it is declared
warning_uninitialised_read.p4:13:13: warning[uninitialized-use]: `never` is read before it has a value
   13 |         x = never;
      |             ^^^^^
   warning_uninitialised_read.p4:5:16: declared without a value here
    5 |         bit<8> never;
      |                ^^^^^
   hint: give it one where it is declared
*/
