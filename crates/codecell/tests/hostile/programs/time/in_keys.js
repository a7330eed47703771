//! attacks = a loop where the keys of a result are listed
//! expect.code = timeout
return new Proxy({}, { ownKeys() { for (;;); } });
