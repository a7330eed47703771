//! expect.fault = output
//! expect.output = [{"overflow":0,"more":12584013}]
let long = "";
while (long.length < 12 << 20) long += "日本".repeat(1000);
return { deep: [long] };
