//! attacks = twenty thousand classes on top of each other
//! expect.value = "RangeError"
//! memory_bytes = 67108864
let Top = class {};
for (let i = 0; i < 2e4; i++) Top = class extends Top {};
try { return typeof new Top(); } catch (error) { return error.name; }
