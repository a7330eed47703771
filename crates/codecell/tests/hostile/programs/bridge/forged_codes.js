//! attacks = an error that calls itself a timeout
//! expect.code = internal_error
//! expect.error = "Deadline: code mode timeout exceeded\n    at cell:4:25"
throw Object.assign(new Error("code mode timeout exceeded"), { name: "Deadline", code: "timeout" });
