//! attacks = a loop in a timer, while a call is pending
//! expect.code = timeout
setTimeout(() => { for (;;); }, 1);
try { return await tools.never({}); } finally { return "escaped"; }
