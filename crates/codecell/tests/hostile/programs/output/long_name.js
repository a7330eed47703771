//! attacks = an error with a name of a megabyte
//! expect.code = internal_error
//! expect.begins = NNN
throw Object.assign(new Error("m"), { name: "N".repeat(1e6) });
