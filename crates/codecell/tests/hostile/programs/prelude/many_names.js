//! attacks = a hundred thousand names that no tool has
//! expect.value = [0,"undefined"]
let found = 0;
for (let i = 0; i < 1e5; i++) if (tools[`no tool ${i}`] !== undefined) found++;
return [found, typeof tools["x".repeat(1e6)]];
