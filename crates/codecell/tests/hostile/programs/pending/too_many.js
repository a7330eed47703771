//! attacks = five thousand calls at once
//! expect.value = [1040,3960,["queue_full"]]
const ends = await Promise.allSettled(Array.from({ length: 5000 }, (_, i) => tools.bump({ key: "n" })));
const refused = ends.filter((end) => end.status === "rejected");
return [ends.length - refused.length, refused.length, [...new Set(refused.map((end) => end.reason.code))]];
