//! expect.fault = output
//! expect.output = [{"overflow":196604,"more":12518469}]
let long = "日本 🎉";
while (long.length < 12 << 20) long += "日本".repeat(1000);
try { text(long); } catch { return "never"; }
