//! attacks = five thousand yields at once
//! expect.value = [1024,"RangeError: too many yields: 1024 are outstanding already"]
const ends = await Promise.allSettled(Array.from({ length: 5000 }, () => yield_control("x".repeat(4000))));
const refused = ends.filter((end) => end.status === "rejected");
return [ends.length - refused.length, `${refused[0].reason.name}: ${refused[0].reason.message}`];
