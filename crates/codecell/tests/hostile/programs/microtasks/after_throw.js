//! attacks = a flood that begins as the program throws
//! expect.code = timeout
queueMicrotask(function again() { queueMicrotask(again); });
throw new Error("escaped");
