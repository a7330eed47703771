//! attacks = results that are not values
//! expect.value = [null,null,null,{},"[Promise]",{},[[1,[2]]],{"name":"Error","message":"e"}]
return [() => 1, Symbol("s"), undefined, (function () { return arguments; })(), Promise.reject().catch(() => {}), (function* () {})(), new Map([[1, new Set([2])]]), new Error("e")];
