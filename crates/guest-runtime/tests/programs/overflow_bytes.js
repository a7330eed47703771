//! expect.fault = output
//! expect.output = [{"overflow":0,"more":41943047}]
return { content: new Uint8Array(30 << 20).subarray(5) };
