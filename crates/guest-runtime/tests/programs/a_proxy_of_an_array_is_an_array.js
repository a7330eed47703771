//! expect.value = {"list":[1,[2]],"object":{"0":1}}
//! expect.output = [{"json":[1,2]}]
const proxy = (value) => new Proxy(new Proxy(value, {}), {});
json(proxy([1, 2]));
return { list: proxy([1, proxy([2])]), object: proxy({ 0: 1 }) };
