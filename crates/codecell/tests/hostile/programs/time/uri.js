//! attacks = text that is escaped without end
//! expect.code = timeout
const words = "\u{1F600} %".repeat(1000);
for (;;) decodeURIComponent(encodeURIComponent(words));
