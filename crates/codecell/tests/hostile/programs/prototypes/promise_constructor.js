//! attacks = a constructor of promises that is another
//! expect.value = ["forged",1]
//! expect.started = 1
Object.defineProperty(Promise.prototype, "constructor", { value: class extends Promise { then() { text("then"); return super.then(...arguments); } } });
const one = await tools.echo({ x: 1 });
Object.defineProperty(Promise.prototype, "constructor", { value: Promise });
return ["forged", one];
