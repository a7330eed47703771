//! attacks = source that closes its function and opens another
//! expect.code = invalid_input
//! expect.error = javascript syntax error at cell:4:11: unmatched `}`. Nothing was run; correct the code and call exec again
return 1; })(); tools.never({}); (async function () {
