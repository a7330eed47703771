//! expect.value = {"servers":["github","docs"],"methods":["resources","createIssue","then","toJSON","toString","constructor","__proto__"],"has":[true,false],"name":"GitHub!","unknown":["undefined","undefined"],"issue":{"path":["MCP","github","createIssue"],"args":[{"title":"a"}]},"read":{"path":["MCP","github","resources","read"],"args":[{"uri":"x"}]},"get":{"path":["MCP","docs","prompts","get"],"args":[]},"found":[{"path":"MCP.github.createIssue"}]}
const issue = await MCP.github.createIssue({ title: "a" });
return {
  servers: Object.keys(MCP),
  methods: Object.keys(MCP.github),
  has: ["createIssue" in MCP.github, "nothing" in MCP.github],
  name: MCP.github.$serverName,
  unknown: [typeof MCP.nowhere, typeof MCP.github.nothing],
  issue,
  read: await MCP.github.resources.read({ uri: "x" }),
  get: await MCP.docs.prompts.get(),
  found: await MCP.$search("issue"),
};
