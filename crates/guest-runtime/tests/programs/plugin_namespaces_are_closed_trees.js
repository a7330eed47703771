//! expect.value = [{"path":["Issues","create"],"args":[1,2]},{"path":["Issues","nested","close"],"args":[]},{"path":["Issues","list","0"],"args":[]},5,1,["MCP","Issues"],true,true]
return [
  await Issues.create(1, 2), await Issues.nested.close(), await Issues.list[0](), Issues.nested.limit,
  Issues.list[1].a, Object.keys(namespaces), namespaces.Issues === Issues, Object.isFrozen(Issues.nested),
];
