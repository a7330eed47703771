//! attacks = a pattern that changes while it is used
//! expect.value = ["b",true]
const pattern = /a/g;
const got = "aaa".replace(pattern, () => { pattern.compile("b", "g"); return "b"; });
return [got[0], pattern.source === "b"];
