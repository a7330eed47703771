// A stdio MCP server with the tools that the conformance suite calls by name, as far as a gateway can pass them on.
// The gateway shows them as they are (`directOnly`), so what the suite sees of them is what the gateway made of them.
import { createInterface } from "node:readline";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const text = (words) => ({ type: "text", text: words });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const resource = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } });
const nothing = { type: "object", additionalProperties: false };
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const tools = new Map();
const tool = (name, inputSchema, call) => tools.set(name, { inputSchema, call });

tool("test_simple_text", nothing, () => ({ content: [text("This is a simple text response for testing.")] }));
tool("test_image_content", nothing, () => ({ content: [image] }));
tool("test_audio_content", nothing, () => ({ content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }] }));
tool("test_embedded_resource", nothing, () => ({
  content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
}));
tool("test_multiple_content_types", nothing, () => ({
  content: [
    text("Multiple content types test:"),
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ],
}));
tool("test_error_handling", nothing, () => ({
  isError: true,
  content: [text("This tool intentionally returns an error for testing")],
}));
tool("test_tool_with_progress", nothing, async (_, token) => {
  for (const progress of [0, 50, 100]) {
    if (token !== undefined) {
      say({ method: "notifications/progress", params: { progressToken: token, progress, total: 100 } });
    }
    await pause(50);
  }
  return { content: [text("done")] };
});
// The suite hangs up after ten seconds and comes back for the answer.
tool("test_reconnection", nothing, async () => {
  await pause(11_000);
  return { content: [text("still here")] };
});
// Whether a stream carries what was not asked for: nothing of the kind is said here, and the gateway adds nothing.
tool("test_logging_tool", nothing, () => ({ content: [text("logged")] }));
tool("test_streaming_elicitation", nothing, () => ({ content: [text("asked nothing")] }));
tool("test_trigger_tool_change", nothing, () => {
  const name = `test_dynamic_${tools.size}`;
  tool(name, nothing, () => ({ content: [text(name)] }));
  say({ method: "notifications/tools/list_changed" });
  return { content: [text("changed")] };
});
tool(
  "test_header_mirror",
  {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      count: { type: "integer", "x-mcp-header": "Count" },
    },
    required: ["region"],
  },
  ({ region }) => ({ content: [text(region)] }),
);
tool(
  "json_schema_2020_12_tool",
  {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
  () => ({ content: [text("valid")] }),
);

function say(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

async function answer({ method, params = {} }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "fixture", version: "1" },
      };
    case "tools/list":
      return {
        tools: [...tools].map(([name, { inputSchema }]) => ({ name, description: `The suite's ${name}.`, inputSchema })),
      };
    case "tools/call":
      return tools.get(params.name).call(params.arguments ?? {}, params._meta?.progressToken);
    default:
      throw new Error(`no method ${method}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) {
    continue;
  }
  answer(message).then(
    (result) => say({ id: message.id, result }),
    (error) => say({ id: message.id, error: { code: -32601, message: error.message } }),
  );
}
