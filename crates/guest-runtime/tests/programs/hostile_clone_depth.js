//! expect.value = ["RangeError","structuredClone: the value is nested more than 500 levels deep"]
let value = [];
for (let i = 0; i < 100000; i++) value = [value];
try { structuredClone(value); } catch (error) { return [error.name, error.message]; }
