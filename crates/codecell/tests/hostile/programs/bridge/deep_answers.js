//! attacks = answers of many levels, read and sent again
//! expect.value = ["array","RangeError","tool_error"]
const deep = await tools.deep({ levels: 5000 });
const again = await tools.echo({ x: deep }).then(() => "sent", (error) => error.name);
return [Array.isArray(deep) ? "array" : typeof deep, again, "tool_error"];
