//! expect.fault = output
//! expect.output = [{"overflow":0,"more":20971521}]
return { ["x".repeat(20 << 20)]: 1 };
