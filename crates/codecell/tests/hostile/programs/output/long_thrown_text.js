//! attacks = a text of a megabyte that is thrown
//! expect.code = internal_error
//! expect.begins = Error: xxx
throw "x".repeat(1e6);
