//! expect.value = 5000
return eval("1" + "+1".repeat(4999));
