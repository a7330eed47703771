//! expect.fault = output
//! expect.output = [{"overflow":0,"more":20971548}]
return new Error("x".repeat(20 << 20));
