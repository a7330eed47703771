//! expect.value = {"closure":3,"generator":[1,2,3],"map":["a",1],"secret":"s1","pending":["x","y"],"date":true,"regexp":2,"weak":1,"symbol":"sym","timer":"fired"}
let count = 0;
const bump = () => ++count;
function* numbers() { yield 1; yield 2; yield 3; }
const generator = numbers();
const drawn = [generator.next().value];
class Vault { #secret = "s"; tell(n) { return this.#secret + n; } }
const vault = new Vault(), key = {}, weak = new WeakMap([[key, 1]]), map = new Map([["a", 1]]);
const pending = [tools.echo("x"), tools.echo("y")];
const timer = new Promise((done) => setTimeout(done, 5, "fired"));
const pattern = /a/g; pattern.test("aa");
const symbol = Symbol("sym"), date = new Date(0);
bump();
await yield_control();
bump(); drawn.push(generator.next().value);
await tools.echo(null);
bump(); drawn.push(generator.next().value);
return {
  closure: count, generator: drawn, map: [...map][0], secret: vault.tell(1), pending: await Promise.all(pending),
  date: date.getTime() === 0, regexp: pattern.test("aa") ? pattern.lastIndex : 0, weak: weak.get(key),
  symbol: symbol.description, timer: await timer,
};
