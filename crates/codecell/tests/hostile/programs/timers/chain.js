//! attacks = a timer that sets itself again two hundred times
//! expect.value = 200
let rung = 0;
return await new Promise((resolve) => (function again() { if (++rung === 200) resolve(rung); else setTimeout(again, 0); })());
