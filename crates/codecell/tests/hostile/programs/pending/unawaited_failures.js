//! attacks = a thousand failures that nobody looks at
//! expect.value = "done"
//! expect.started = 1000
//! expect.warned = {"truncated":1,"unawaited_failure":44}
for (let i = 0; i < 1000; i++) tools.fail({ kind: "throw" });
return "done";
