//! expect.fault = output
//! expect.output = [{"overflow":0,"more":262145}]
const list = [];
list.length = 4294967295;
return list;
