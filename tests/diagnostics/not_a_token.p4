const bit<8> X = 1 $ 2;
const string S = "never closed;
/* expected
not_a_token.p4:1:20: error: syntax error: expected `;`, found `$`
    1 | const bit<8> X = 1 $ 2;
      |                    ^
   not_a_token.p4:1:19: `;` is missing after this
    1 | const bit<8> X = 1 $ 2;
      |                   ^
not_a_token.p4:2:18: error: this string never ends
    2 | const string S = "never closed;
      |                  ^ opened here
   hint: close it with `"`
not_a_token.p4:2:32: error: syntax error: expected `;`, found the end of the file
    2 | const string S = "never closed;
      |                                ^
   not_a_token.p4:2:32: `;` is missing after this
    2 | const string S = "never closed;
      |                                ^
*/
