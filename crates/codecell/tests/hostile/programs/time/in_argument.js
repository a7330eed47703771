//! attacks = a loop in a getter of an argument
//! expect.code = timeout
//! expect.started = 0
return await tools.echo({ get x() { for (;;); } });
