//! expect.value = "ok"
//! expect.unhandled = ["TypeError: late @5:34","Error: it broke @4:7","Error: in a timer @6:68"]
const handledLater = Promise.reject(new Error("handled"));
tools.callValue("openclaw:core:fail");
queueMicrotask(() => { throw new TypeError("late"); });
await new Promise((done) => { setTimeout(() => { done(); throw new Error("in a timer"); }, 1); });
handledLater.catch(() => {});
return "ok";
