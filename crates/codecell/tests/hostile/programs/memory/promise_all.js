//! attacks = an iterator without an end, given to Promise.all
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
return await Promise.all((function* () { for (;;) yield 1; })());
