//! expect.fault = output
//! expect.output = [{"overflow":0,"more":20971522}]
return "x".repeat(20 << 20);
