//! attacks = a symbol as text
//! expect.value = ["null"]
//! expect.output = ["null"]
text(Symbol("s"));
return ["null"];
