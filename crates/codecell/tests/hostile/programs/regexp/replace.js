//! attacks = a replacement by what explodes
//! expect.code = timeout
return "a".repeat(40).concat("b").replace(/^(a+)+$/, () => "x");
