//! expect.value = [["a","b"],["c"]]
//! expect.calls = ["timer 20 @4:14","timer 10 @5:1","withdraw","timer 30 @7:29"]
const log = [];
const gone = setTimeout(() => log.push("gone"), 20);
setTimeout((...args) => log.push(args), 10, "a", "b");
clearTimeout(gone); clearTimeout(gone); clearTimeout(99); clearTimeout("x");
await new Promise((done) => setTimeout((x) => { log.push([x]); done(); }, 30, "c"));
return log;
