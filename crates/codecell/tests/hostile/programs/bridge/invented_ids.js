//! attacks = ids that look like others; only space around one does not count
//! expect.value = ["Error","called","Error","Error","Error","Error","Error"]
//! expect.started = 1
const ids = ["openclaw:core:echo\u0000", "openclaw:core:echo ", "OPENCLAW:core:echo", "openclaw:core:../core:echo", "", "x".repeat(1e5), "openclaw:core:exec"];
return await Promise.all(ids.map((id) => tools.callValue(id, { x: 1 }).then(() => "called", (error) => error.constructor.name)));
