//! attacks = what only methods may say
//! expect.code = invalid_input
//! expect.error = javascript syntax error at cell:4:8: 'super' can only be referenced in members of derived classes or object literal expressions. Nothing was run; correct the code and call exec again
return super.x;
