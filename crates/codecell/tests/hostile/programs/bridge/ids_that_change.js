//! attacks = an id that is another one when it is looked at again
//! expect.value = ["TypeError","TypeError","TypeError"]
//! expect.started = 0
let looks = 0;
const changing = { toString: () => (looks++ ? "openclaw:core:never" : "openclaw:core:echo") };
const boxed = Object("openclaw:core:echo");
const calls = [tools.callValue(changing), tools.call(boxed), tools.callValue(Symbol("openclaw:core:echo"))];
return await Promise.all(calls.map((call) => call.then(() => "called", (error) => error.name)));
