//! expect.fault = output
//! expect.output = [{"overflow":0,"more":262147}]
const map = new Map();
for (let i = 0; i < 300000; i++) map.set(i, i);
return map;
