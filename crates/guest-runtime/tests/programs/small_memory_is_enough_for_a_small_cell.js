//! memory_bytes = 1048576
//! expect.value = 499500
let sum = 0;
for (const x of Array.from({ length: 1000 }, (_, i) => i)) sum += x;
return sum;
