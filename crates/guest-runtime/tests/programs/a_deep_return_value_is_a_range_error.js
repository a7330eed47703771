//! expect.error = RangeError: the value is nested more than 100 levels deep
let value = 1;
for (let i = 0; i < 6000; i++) value = { value };
return value;
