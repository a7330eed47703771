//! attacks = ten thousand rejections that nobody looks at
//! expect.value = "done"
//! expect.warned = {"truncated":1,"unhandled_rejection":57}
for (let i = 0; i < 1e4; i++) Promise.reject(new Error(`rejection ${i}`));
return "done";
