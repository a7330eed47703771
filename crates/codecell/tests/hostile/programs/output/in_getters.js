//! attacks = text that is printed while the result is written
//! expect.value = {"a":1}
//! expect.output = ["while"]
return { get a() { text("while"); return 1; } };
