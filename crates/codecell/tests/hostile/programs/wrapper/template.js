//! attacks = a template that does not end
//! expect.code = invalid_input
//! expect.error = javascript syntax error at cell:4:21: unterminated string. Nothing was run; correct the code and call exec again
const a = `})(); ${1};
