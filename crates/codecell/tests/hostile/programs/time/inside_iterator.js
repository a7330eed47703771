//! attacks = an iterator helper that finds nothing
//! expect.code = timeout
function* all() { for (let i = 0; ; i++) yield i; }
return all().filter((i) => i < 0).take(1).toArray();
