//! attacks = text that is normalised without end
//! expect.code = timeout
const marks = "a" + "\u0315\u0300\u05ae\u0062".repeat(5000);
for (;;) marks.normalize("NFKD");
