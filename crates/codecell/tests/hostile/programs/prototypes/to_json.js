//! attacks = a toJSON on every built-in, and one of its own
//! expect.value = [{"a":1},[1],"x",5,{"mine":true}]
for (const one of [Object, Array, String, Number, Boolean, Function, Date]) one.prototype.toJSON = () => "forged";
return [{ a: 1 }, [1], "x", 5, { toJSON: () => ({ mine: true }) }];
