// Has a turn with a tool of its own, with the official OpenAI SDK for Node, over both APIs, in pieces and at once.
//
//     openai_client.mjs BASE_URL KEY MODEL
//
// Carries out every call of `select_file` by naming a file after the prompt. Prints one line of JSON: per API and
// delivery the calls, the last text, in how many pieces text came and how many tokens it cost; and how two wrong requests are refused.

import { createRequire } from "node:module";
import { join } from "node:path";

// The package lies beside the program that runs this, not beside this file.
const require = createRequire(join(process.env.NODE_MODULES, "openai"));
const { default: OpenAI } = require("openai");

const NAME = "select_file";
const ABOUT = "Lets a person pick a file.";
const PARAMETERS = { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] };
const PROMPT = "Pick two files.";
const MOST_TURNS = 5;

function carryOut(name, text, calls) {
  const given = JSON.parse(text);
  calls.push([name, given]);
  return JSON.stringify({ path: `${given.prompt}.txt` });
}

async function chat(client, model, stream) {
  const tools = [{ type: "function", function: { name: NAME, description: ABOUT, parameters: PARAMETERS } }];
  const messages = [{ role: "user", content: PROMPT }];
  const calls = [];
  let [pieces, tokens] = [0, 0];
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const asked = { model, messages, tools };
    let completion;
    if (stream) {
      const events = client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } });
      events.on("content", () => { pieces += 1; });
      completion = await events.finalChatCompletion();
    } else {
      completion = await client.chat.completions.create(asked);
    }
    tokens += completion.usage.total_tokens;
    const [{ message, finish_reason: finish }] = completion.choices;
    if (finish !== "tool_calls") return { calls, text: message.content, pieces, tokens };
    messages.push(message);
    for (const call of message.tool_calls) {
      const content = carryOut(call.function.name, call.function.arguments, calls);
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
  throw new Error("no end of calls");
}

async function responses(client, model, stream) {
  const tools = [{ type: "function", name: NAME, description: ABOUT, parameters: PARAMETERS, strict: false }];
  let asked = { input: PROMPT };
  const calls = [];
  let [pieces, tokens] = [0, 0];
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    let response;
    if (stream) {
      const events = client.responses.stream({ model, tools, ...asked });
      events.on("response.output_text.delta", () => { pieces += 1; });
      response = await events.finalResponse();
    } else {
      response = await client.responses.create({ model, tools, ...asked });
    }
    tokens += response.usage.total_tokens;
    const open = response.output.filter((item) => item.type === "function_call");
    if (open.length === 0) return { calls, text: response.output_text, pieces, tokens };
    const input = open.map((call) => ({
      type: "function_call_output",
      call_id: call.call_id,
      output: carryOut(call.name, call.arguments, calls),
    }));
    asked = { input, previous_response_id: response.id };
  }
  throw new Error("no end of calls");
}

async function refused(kind, request) {
  try {
    await request();
  } catch (error) {
    if (error instanceof kind) return error.code;
    throw error;
  }
  return null;
}

const [baseURL, apiKey, model] = process.argv.slice(2);
const settings = { baseURL, maxRetries: 0, timeout: 30_000 };
const client = new OpenAI({ ...settings, apiKey });
const stranger = new OpenAI({ ...settings, apiKey: "wrong" });
const messages = [{ role: "user", content: PROMPT }];
const report = { chat: [], responses: [], models: [], refused: [] };
for (const stream of [false, true]) {
  report.chat.push(await chat(client, model, stream));
  report.responses.push(await responses(client, model, stream));
}
for await (const entry of client.models.list()) report.models.push(entry.id);
report.refused.push(await refused(OpenAI.AuthenticationError, () => stranger.models.list()));
report.refused.push(
  await refused(OpenAI.NotFoundError, () => client.chat.completions.create({ model: "nobody", messages })),
);
console.log(JSON.stringify(report));
