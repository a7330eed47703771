//! attacks = a loop while output is written
//! expect.code = timeout
text({ get a() { for (;;); } });
