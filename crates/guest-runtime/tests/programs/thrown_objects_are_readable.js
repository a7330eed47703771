//! expect.error = Error: {"a":1}
throw { a: 1 };
