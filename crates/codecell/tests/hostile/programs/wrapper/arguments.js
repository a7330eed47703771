//! attacks = what a function knows of itself and its caller
//! expect.value = [0,"undefined",true,"TypeError"]
let caller;
try { caller = arguments.callee.caller === null ? "TypeError" : "a caller"; } catch (error) { caller = error.name; }
return [arguments.length, typeof new.target, this === globalThis, caller];
