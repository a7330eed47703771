//! expect.error = Error: null
throw null;
