//! expect.value = [{"x":1},"undefined",true,false,["search","describe","callValue","call","echo","fail","then","toJSON"],"function"]
return [
  await tools.echo({ x: 1 }), typeof tools.unknown_tool, "echo" in tools, "nothing" in tools, Object.keys(tools),
  typeof tools.search,
];
