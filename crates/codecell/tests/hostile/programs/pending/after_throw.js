//! attacks = calls under way when the program throws
//! expect.code = internal_error
//! expect.error = "Error: mine\n    at cell:6:11"
tools.never({});
tools.bump({ key: "a" });
throw new Error("mine");
