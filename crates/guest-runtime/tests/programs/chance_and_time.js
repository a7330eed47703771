//! expect.value = [true,true,true,4,true,0,"number"]
const uuid = crypto.randomUUID();
const draws = Array.from({ length: 1000 }, Math.random);
const array = crypto.getRandomValues(new Uint32Array(4));
return [
  /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuid), uuid !== crypto.randomUUID(),
  draws.every((x) => x >= 0 && x < 1), array.length, array.some((x) => x > 0), new Date().getTimezoneOffset(),
  typeof performance.now(),
];
