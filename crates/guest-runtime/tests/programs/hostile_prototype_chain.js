//! timeout_ms = 300
//! expect.fault = deadline
let object = {};
for (let i = 0; i < 100000; i++) object = Object.create(object);
for (;;) object.missing;
