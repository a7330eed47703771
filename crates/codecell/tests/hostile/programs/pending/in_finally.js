//! attacks = calls made by a finally that nobody waits for
//! expect.value = "returned"
//! expect.started = 3
try { return "returned"; } finally { for (let i = 0; i < 3; i++) tools.bump({ key: "f" }); }
