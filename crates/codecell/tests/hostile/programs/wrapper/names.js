//! attacks = words that are reserved in some places only
//! expect.value = [1,2,3,4]
var yield_ = 1, async = 2, of = 3, let_ = 4;
label: for (const one of [1]) continue label;
return [yield_, async, of, let_];
