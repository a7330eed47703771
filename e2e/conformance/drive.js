// Client mode of the conformance suite: lists all there is of the server `suite`, and calls and reads all of it.
// `context` is put before this by drive.sh: what a scenario wants to be called, or nothing in particular.
const server = MCP.suite;
const SAMPLES = { string: "x", number: 1, integer: 1, boolean: true, array: [], object: {} };

const listed = Object.entries(JSON.parse(await API.read("mcp/suite.schema.json")));
const calls = context.toolCalls ?? listed.map(([, tool]) => ({ name: tool.name, arguments: sample(tool) }));

function sample({ name, inputSchema }) {
  // It wants to have the schema of the other tool as it was received.
  if (name === "json_schema_echo") {
    return { schema: listed.find(([, other]) => other.name !== name)[1].inputSchema };
  }
  const properties = Object.entries(inputSchema.properties ?? {});
  return Object.fromEntries(properties.map(([key, { type }]) => [key, SAMPLES[type] ?? "x"]));
}

const answers = [];
async function attempt(what, work) {
  try {
    const answer = await work();
    answers.push([what, answer]);
    return answer;
  } catch (error) {
    answers.push([what, error.message]);
    return {};
  }
}

for (const { name, arguments: input } of calls) {
  const method = listed.find(([, tool]) => tool.name === name)?.[0] ?? name;
  // What is null is left out: no schema of the suite allows null, so the gateway would not send it.
  const given = Object.entries(input ?? {}).filter(([, value]) => value !== null);
  await attempt(name, () => server[method](Object.fromEntries(given)));
}
const { resources = [] } = await attempt("resources", () => server.resources.list());
for (const { uri } of resources) {
  await attempt(uri, () => server.resources.read({ uri }));
}
const { prompts = [] } = await attempt("prompts", () => server.prompts.list());
for (const { name } of prompts) {
  await attempt(name, () => server.prompts.get({ name, arguments: {} }));
}
return answers;
