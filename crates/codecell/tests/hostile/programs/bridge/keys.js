//! attacks = keys that mean something elsewhere
//! expect.value = {"__proto__":{"left":1},"constructor":2,"toJSON":3,"":4,"\u0000":5,"�":6,"$bytes":7}
const x = JSON.parse('{"__proto__": {"left": 1}, "constructor": 2, "toJSON": 3, "": 4}');
x["\0"] = 5;
x["\ud800"] = 6;
x.$bytes = 7;
return await tools.echo({ x });
