control c(inout int<32> index) {
    apply {
        index = (int<32>) ((int) index + 1);
    }
}
/* expected
cast_to_a_number_of_any_width.p4:3:28: error: a `int<32>` cannot be cast to `int`
    3 |         index = (int<32>) ((int) index + 1);
      |                            ^^^^^^^^^^^
   hint: `int` is for values that are known when the program is compiled: cast to a wide enough `int<N>`
*/
