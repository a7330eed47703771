//! expect.value = {"awaited":["undefined","function","GitHub!"],"tools":["undefined","function"],"text":"[object MCP.github] [object tools]","json":"{}","spread":7,"reachable":{"path":["MCP","github","then"],"args":[{"x":1}]}}
//! expect.output = ["{}",{"json":{}}]
const github = await MCP.github;
const awaitedTools = await tools;
text(MCP.github);
json(MCP.github);
const quiet = JSON.stringify(MCP.github);
return {
  awaited: [typeof github.then, typeof github.createIssue, github.$serverName],
  tools: [typeof awaitedTools.then, typeof awaitedTools.echo],
  text: `${MCP.github} ${tools}`,
  json: quiet,
  spread: Object.keys({ ...MCP.github }).length,
  reachable: await MCP.github.then({ x: 1 }),
};
