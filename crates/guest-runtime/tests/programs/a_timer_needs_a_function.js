//! expect.error = TypeError: setTimeout(callback, delay): the callback must be a function, got string @2:1
setTimeout("return 1", 5);
