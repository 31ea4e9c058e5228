enum bit<4> color_t { RED = 1, GREEN = 2 }
control c(in color_t color, in bit<8> number, inout bit<8> result) {
    apply {
        switch (color) {
            color_t.RED: { result = 1; }
            4w2: { result = 2; }
            true: { result = 3; }
        }
        switch (number) {
            default: { result = 0; }
            1: { result = 1; }
        }
    }
}
/* expected
switch_cases_do_not_fit.p4:4:9: error: 2 cases do not fit what this `switch` looks at: color_t
    4 |         switch (color) {
      |         ^^^^^^^^^^^^^
   switch_cases_do_not_fit.p4:6:13: this is a `bit<4>`, but a `color_t` is needed
    6 |             4w2: { result = 2; }
      |             ^^^
   switch_cases_do_not_fit.p4:7:13: this is a `bool`, but a `color_t` is needed
    7 |             true: { result = 3; }
      |             ^^^^
switch_cases_do_not_fit.p4:9:9: error: `default` must be the last case of a `switch`
    9 |         switch (number) {
      |         ^^^^^^^^^^^^^^
   switch_cases_do_not_fit.p4:10:13: `default`
   10 |             default: { result = 0; }
      |             ^^^^^^^
   switch_cases_do_not_fit.p4:11:13: this case follows it
   11 |             1: { result = 1; }
      |             ^
*/
