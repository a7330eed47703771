//! attacks = a string that doubles
//! expect.code = internal_error
//! expect.error = memory limit exceeded (16777216 bytes)
let text = "ab";
for (;;) { text += text; text.charCodeAt(0); }
