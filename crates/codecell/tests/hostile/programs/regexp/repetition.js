//! attacks = repetitions that multiply
//! expect.value = false
try { return new RegExp("(?:(?:(?:(?:a{1000}){1000}){1000}){1000}){1000}").test("a"); } catch (error) { return error.name; }
