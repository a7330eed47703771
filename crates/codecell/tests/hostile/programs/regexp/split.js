//! attacks = a split by what explodes
//! expect.code = timeout
return ("a".repeat(40) + "b").split(/^(a+)+$/).length;
