//! attacks = a flood that begins as the program returns
//! expect.code = timeout
queueMicrotask(function again() { queueMicrotask(again); });
return "escaped";
