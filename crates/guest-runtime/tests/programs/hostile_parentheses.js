//! expect.value = [true,"still alive"]
let survived = false;
try { survived = eval("(".repeat(5000) + "1" + ")".repeat(5000)) === 1; } catch (error) { survived = error instanceof Error; }
return [survived, "still alive"];
