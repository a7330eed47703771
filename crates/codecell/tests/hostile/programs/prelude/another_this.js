//! attacks = functions of the host, called on something else
//! expect.value = [1,"openclaw:core:echo",3,"function"]
//! expect.output = ["t"]
const { echo, call, search } = tools;
text.call(null, "t");
return [await echo.call(MCP, { x: 1 }), (await search.apply(undefined, ["echo", { limit: 1 }]))[0].id,
  (await Reflect.apply(MCP.fixtureServer.echo, API, [{ x: 3 }])).structuredContent, typeof call];
