//! attacks = a lastIndex that answers with code
//! expect.value = [false,1,0]
const pattern = /a/y;
let asked = 0;
pattern.lastIndex = { valueOf() { asked++; return 2 ** 53; } };
return [pattern.test("a"), asked, pattern.lastIndex];
