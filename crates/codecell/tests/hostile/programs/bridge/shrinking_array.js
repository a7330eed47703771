//! attacks = an array that shrinks while it is written
//! expect.value = ["first",null,null]
const list = [{ toJSON() { list.length = 1; return "first"; } }, "second", "third"];
return await tools.echo({ x: list });
