//! expect.value = {"status":"yielded","reason":"look at this"}
return await yield_control("look at this");
