//! attacks = an object whose members go and come while it is written
//! expect.value = {"a":1,"c":3}
const object = { get a() { delete object.b; object.d = 4; return 1; }, b: 2, c: 3 };
return await tools.echo({ x: object });
