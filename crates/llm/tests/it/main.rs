//! Requests and answers as providers write and read them.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod bodies;
mod sse;
mod streams;
mod transport;

use codecell_llm::{
    Api, Block, Content, Image, Message, Request, Signature, Tool, ToolCall, ToolChoice, ToolResult,
};
use serde_json::json;

const APIS: [Api; 4] = [
    Api::OpenAiResponses,
    Api::OpenAiCompletions,
    Api::AnthropicMessages,
    Api::GoogleGenerateContent,
];

fn tool(name: &str, property: &str) -> Tool {
    Tool {
        name: name.into(),
        description: format!("Does {name}."),
        parameters: json!({
            "type": "object",
            "properties": { property: { "type": "string" } },
            "required": [property],
        }),
    }
}

fn call(id: &str, arguments: &str, signature: Option<Signature>) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "exec".into(),
        arguments: arguments.into(),
        signature,
    }
}

fn png(data: &str) -> Image {
    Image {
        mime_type: "image/png".into(),
        data: data.into(),
    }
}

/// A conversation with everything in it. Its signatures come from `api`.
fn conversation(api: Api) -> Request {
    let sign = |value: &str| {
        Some(Signature {
            api,
            model: "m-1".into(),
            value: value.into(),
        })
    };
    let result = |id: &str, text: &str, is_error| {
        Message::ToolResult(ToolResult {
            call_id: id.into(),
            name: "exec".into(),
            text: text.into(),
            images: if is_error { Vec::new() } else { vec![png("BBBB")] },
            is_error,
        })
    };
    Request {
        model: "m-1".into(),
        system: Some("Be brief.".into()),
        messages: vec![
            Message::User(vec![Content::Text("Look".into()), Content::Image(png("AAAA"))]),
            Message::Assistant(vec![
                Block::Thinking {
                    text: "Hm.".into(),
                    signature: sign("c2ln"),
                },
                Block::Text("I try.".into()),
                Block::ToolCall(call("a", "{\"code\": \"1\"}", sign("dHM="))),
                Block::ToolCall(call("b", "", None)),
                Block::ToolCall(call("c", "{oops", None)),
            ]),
            result("a", "1", false),
            result("b", "no code", true),
            result("c", "no JSON", true),
            Message::user("Go on"),
        ],
        tools: vec![tool("exec", "code"), tool("wait", "runId")],
        tool_choice: ToolChoice::Tool("exec".into()),
        max_output_tokens: Some(100),
        temperature: Some(0.5),
        session: Some("s-1".into()),
        ..Request::default()
    }
}
