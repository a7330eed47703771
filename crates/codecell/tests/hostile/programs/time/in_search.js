//! attacks = a loop in the options of a search
//! expect.code = timeout
return await tools.search("echo", { get limit() { for (;;); } });
