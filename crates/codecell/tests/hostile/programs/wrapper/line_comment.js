//! attacks = a line comment on the last line
//! expect.value = 1
return 1; // })(
