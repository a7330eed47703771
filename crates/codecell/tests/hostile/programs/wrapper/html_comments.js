//! attacks = comments of another age
//! expect.code = invalid_input
//! expect.error = javascript syntax error at cell:5:1: `<!--` and `-->` at the start of a line are HTML-like comments, which are not supported; write `//`, or spaces between the operators. Nothing was run; correct the code and call exec again
let n = 2;
<!-- n = 3;
--> n = 4;
return n - 1;
