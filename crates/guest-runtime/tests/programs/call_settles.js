//! expect.value = {"a":[1,"x",null],"b":true}
//! expect.calls = ["callValue openclaw:core:echo {\"a\":[1,\"x\",null],\"b\":true} @3:20"]
return await tools.callValue("openclaw:core:echo", { a: [1, "x", null], b: true });
