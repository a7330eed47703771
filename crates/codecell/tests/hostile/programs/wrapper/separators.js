//! attacks = line separators, marks and characters that are not there
//! expect.value = ["\u2028",3,"a\u0000b"]
const a﻿=　1; const b = 2; 
return ["\u2028", a + b, "a\0b"];
