//! attacks = searches without end
//! expect.code = timeout
for (;;) await tools.search("echo");
