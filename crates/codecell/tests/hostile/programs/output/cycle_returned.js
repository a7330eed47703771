//! attacks = a value that contains itself, returned
//! expect.code = internal_error
//! expect.error = TypeError: the value contains itself at `$[0].loop` and has no JSON form
const loop = [];
loop.push({ loop });
return loop;
