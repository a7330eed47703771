//! attacks = timers of one delay, which ring in the order in which they were set
//! expect.value = [[0,1,2,3,4,5,6,7,8,9],["early","late"]]
const ring = (delays) => new Promise((resolve) => {
  const rung = [];
  for (const [name, delay] of delays) setTimeout(() => { if (rung.push(name) === delays.length) resolve(rung); }, delay);
});
return [await ring(Array.from({ length: 10 }, (_, i) => [i, 0])), await ring([["late", 400], ["early", 2]])];
