//! attacks = questions that are not questions
//! expect.value = ["TypeError","TypeError","Error","TypeError"]
//! expect.started = 0
const asks = [() => tools.search({ toString() { throw new Error("asked"); } }), () => tools.search(5n), () => tools.search("x", { get limit() { throw new Error("mine"); } }), () => tools.describe(null)];
return await Promise.all(asks.map((ask) => ask().then(() => "answered", (error) => error.name)));
