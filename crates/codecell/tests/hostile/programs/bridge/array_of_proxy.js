//! attacks = a proxy of an array, which is an array
//! expect.value = [[1,2],"[1,2]"]
const list = new Proxy(new Proxy([1, 2], {}), {});
return [await tools.echo({ x: list }), JSON.stringify(list)];
