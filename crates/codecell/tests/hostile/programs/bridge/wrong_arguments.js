//! attacks = arguments of every other kind
//! expect.value = ["invalid_input","invalid_input","invalid_input","invalid_input","invalid_input","invalid_input","invalid_input","invalid_input"]
//! expect.started = 0
const kinds = [1, "text", true, null, [1], () => 1, Symbol("s"), 5n];
return await Promise.all(kinds.map((kind) => tools.slow(kind).then(() => "called", (error) => error.code ?? error.name)));
