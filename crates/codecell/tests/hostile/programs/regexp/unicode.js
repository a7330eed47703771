//! attacks = properties and ignored case
//! expect.code = timeout
return /^(\p{L}+\p{L}*)+$/iu.test("\u00e4".repeat(40) + "1");
