//! attacks = a thenable that resolves with itself
//! expect.code = timeout
const loop = { then(resolve) { resolve(loop); } };
return await loop;
