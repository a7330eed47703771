//! attacks = callbacks that throw
//! expect.value = "done"
//! expect.warnings = [{"kind":"unhandled_rejection","message":"Error: from a timer","line":4},{"kind":"unhandled_rejection","message":"Error: from an async timer","line":5}]
setTimeout(() => { throw new Error("from a timer"); }, 0);
setTimeout(async () => { throw new Error("from an async timer"); }, 0);
await new Promise((resolve) => setTimeout(resolve, 5));
return "done";
