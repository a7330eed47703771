//! attacks = a value that contains itself, printed and caught
//! expect.value = ["TypeError","TypeError"]
//! expect.output = ["after"]
const loop = { a: [] };
loop.a.push(loop);
const names = [json, text].map((print) => { try { print(loop); } catch (error) { return error.name; } });
text("after");
return names;
