//! attacks = a comment that would swallow the end of the wrapper
//! expect.code = invalid_input
//! expect.error = javascript syntax error at cell:4:11: unterminated multiline comment. Nothing was run; correct the code and call exec again
return 1; /* })
