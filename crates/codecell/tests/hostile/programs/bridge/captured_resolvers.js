//! attacks = the functions that settle a promise, caught on their way and used again
//! expect.value = ["first"]
//! expect.started = 0
const caught = [];
class Catching extends Promise { constructor(run) { super((resolve, reject) => { caught.push(resolve, reject); run(resolve, reject); }); } }
const first = new Catching((resolve) => resolve("first"));
for (const settle of caught) { settle("second"); settle("third"); }
return [await first];
