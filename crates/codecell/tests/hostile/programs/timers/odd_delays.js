//! attacks = delays that are no time
//! expect.value = ["NaN","-1","-Infinity","undefined","null","text","array","bool"]
const fired = [];
const wait = (name, delay) => new Promise((resolve) => setTimeout(() => { fired.push(name); resolve(); }, delay));
await Promise.all([wait("NaN", NaN), wait("-1", -1), wait("-Infinity", -Infinity), wait("undefined"), wait("null", null), wait("text", "x"), wait("array", []), wait("bool", false)]);
return fired;
