//! expect.error = Error: just text
throw "just text";
