//! expect.value = [["__proto__","constructor"],"undefined",1]
const value = await tools.callValue("openclaw:core:raw", '{"__proto__": {"polluted": 1}, "constructor": {"x": 1}}');
return [Object.keys(value), typeof ({}).polluted, value["__proto__"].polluted];
