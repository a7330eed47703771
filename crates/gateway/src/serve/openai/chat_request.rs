//! `POST /v1/chat/completions`: what it asks for.
use codecell_llm::{Block, Message};
use serde_json::Value;

use super::super::error::ApiError;
use super::content::{shown, words};
use super::part::{Part, Refused, is_given, refuse};
use super::request::{Conversation, Output, Said, Wanted, call};
use super::tools::{Shape, functions};

/// A request as it was understood. Fields that are not read, such as `seed` or `top_p`, are hints that may be left
/// out without a wrong answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChatRequest {
    pub(super) wanted: Wanted,
    pub(super) stream: bool,
    /// Whether the stream ends with what it cost.
    pub(super) include_usage: bool,
}

const REFUSED: [Refused; 9] = [
    Refused {
        field: "n",
        when: |value| value != 1,
        why: "must be 1: there is one answer",
    },
    Refused {
        field: "stop",
        when: is_given,
        why: "is not supported: leave it out",
    },
    Refused {
        field: "logprobs",
        when: is_given,
        why: "are not there: leave it out",
    },
    Refused {
        field: "top_logprobs",
        when: is_given,
        why: "are not there: leave it out",
    },
    Refused {
        field: "modalities",
        when: |value| *value != serde_json::json!(["text"]),
        why: "must be `[\"text\"]`: there is nothing else",
    },
    Refused {
        field: "response_format",
        when: |value| value.get("type").and_then(Value::as_str) != Some("text"),
        why: "must have the type `text`: nothing makes the answer fit a schema, so ask for JSON in words",
    },
    Refused {
        field: "functions",
        when: is_given,
        why: "is how tools were given once: use `tools`",
    },
    Refused {
        field: "function_call",
        when: is_given,
        why: "is how a tool was chosen once: use `tool_choice`",
    },
    Refused {
        field: "web_search_options",
        when: is_given,
        why: "cannot be honoured: hosted tools are not offered",
    },
];

/// Reads the request.
pub(super) fn parse(body: &Part<'_>) -> Result<ChatRequest, ApiError> {
    refuse(body, &REFUSED)?;
    let flag = |part: Option<Part<'_>>| part.map_or(Ok(false), |part| part.flag());
    let options = body.get("stream_options");
    let limit = body
        .get("max_completion_tokens")
        .or_else(|| body.get("max_tokens"));
    Ok(ChatRequest {
        wanted: Wanted {
            model: body.need("model")?.text()?.to_owned(),
            said: said(&body.need("messages")?)?,
            tools: functions(body, Shape::Nested)?,
            max_output_tokens: limit.map(|limit| limit.count()).transpose()?,
            temperature: body
                .get("temperature")
                .map(|temperature| temperature.number(0.0, 2.0))
                .transpose()?,
        },
        stream: flag(body.get("stream"))?,
        include_usage: flag(options.and_then(|options| options.get("include_usage")))?,
    })
}

fn said(messages: &Part<'_>) -> Result<Said, ApiError> {
    let mut conversation = Conversation::default();
    for message in messages.items()? {
        let role = message.need("role")?;
        match role.text()? {
            "system" | "developer" => conversation.instruct(words(&message.need("content")?)?),
            "user" => conversation.user(Message::User(shown(&message.need("content")?)?)),
            "assistant" => conversation.assistant(spoken(&message)?),
            "tool" => {
                let call = message.need("tool_call_id")?;
                conversation.output(Output {
                    call: call.text()?.to_owned(),
                    text: words(&message.need("content")?)?,
                    path: call.path().to_owned(),
                });
            }
            "function" => return Err(role.unsupported("is how tools answered once: use `tool`")),
            _ => {
                return Err(role.invalid("must be `system`, `developer`, `user`, `assistant` or `tool`"));
            }
        }
    }
    conversation.end(messages)
}

fn spoken(message: &Part<'_>) -> Result<Vec<Block>, ApiError> {
    let text = match (message.get("content"), message.get("refusal")) {
        (Some(content), _) => words(&content)?,
        (None, Some(refusal)) => refusal.text()?.to_owned(),
        (None, None) => String::new(),
    };
    let mut blocks = Vec::new();
    if !text.is_empty() {
        blocks.push(Block::Text(text));
    }
    if let Some(calls) = message.get("tool_calls") {
        for one in calls.items()? {
            blocks.push(call(&one.need("id")?, &one.need("function")?)?);
        }
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use codecell::tools::ToolDefinition;
    use serde_json::json;

    use super::*;

    fn read(body: &Value) -> Result<ChatRequest, (String, Option<String>)> {
        parse(&Part::body(body).unwrap()).map_err(|error| (error.body.message, error.body.param))
    }

    #[test]
    fn a_whole_request_is_read() {
        let body = json!({
            "model": "codecell",
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "a" },
                { "role": "assistant", "content": "b", "tool_calls": [
                    { "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{}" } },
                ] },
                { "role": "tool", "tool_call_id": "c1", "content": "seen" },
                { "role": "developer", "content": [{ "type": "text", "text": "Be " }, { "type": "text", "text": "kind." }] },
                { "role": "assistant", "content": null, "refusal": "no" },
                { "role": "user", "content": [{ "type": "text", "text": "c" }], "name": "eve" },
            ],
            "tools": [{ "type": "function", "function": { "name": "look", "description": "Looks." } }],
            "stream": true,
            "stream_options": { "include_usage": true },
            "max_completion_tokens": 5,
            "max_tokens": 7,
            "temperature": 0.5,
            "seed": 3, "user": "u", "store": false, "logprobs": false, "n": 1, "top_p": 0.1,
            "response_format": { "type": "text" }, "parallel_tool_calls": true, "tool_choice": "auto",
        });
        let call = codecell_llm::ToolCall {
            id: "c1".into(),
            name: "look".into(),
            arguments: "{}".into(),
            signature: None,
        };
        let result = codecell_llm::ToolResult {
            call_id: "c1".into(),
            name: String::new(),
            text: "seen".into(),
            images: Vec::new(),
            is_error: false,
        };
        let text = |text: &str| Block::Text(text.into());
        let parameters = json!({ "type": "object", "properties": {} });
        let expected = ChatRequest {
            wanted: Wanted {
                model: "codecell".into(),
                said: Said::New {
                    instructions: Some("Be brief.\n\nBe kind.".into()),
                    messages: vec![
                        Message::user("a"),
                        Message::Assistant(vec![text("b"), Block::ToolCall(call)]),
                        Message::ToolResult(result),
                        Message::Assistant(vec![text("no")]),
                        Message::user("c"),
                    ],
                },
                tools: vec![ToolDefinition::new("look", "Looks.", parameters)],
                max_output_tokens: Some(5),
                temperature: Some(0.5),
            },
            stream: true,
            include_usage: true,
        };
        assert_eq!(read(&body), Ok(expected));
    }

    #[test]
    fn only_outputs_at_the_end_are_answers() {
        let output = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "1" });
        let said = |messages: Value| {
            let request = read(&json!({ "model": "m", "messages": messages })).unwrap();
            match request.wanted.said {
                Said::Outputs(outputs) => outputs
                    .into_iter()
                    .map(|output| (output.call, output.path))
                    .collect(),
                Said::New { .. } => Vec::new(),
            }
        };
        let user = json!({ "role": "user", "content": "hi" });
        let assistant = json!({ "role": "assistant", "content": "hm" });
        let place = |id: &str, at: usize| (id.to_owned(), format!("messages[{at}].tool_call_id"));
        assert_eq!(said(json!([user, output("a"), user])), []);
        assert_eq!(
            said(json!([output("x"), assistant, output("a"), output("b")])),
            [place("a", 2), place("b", 3)]
        );
        assert_eq!(said(json!([user, output("a")])), [place("a", 1)]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let user = json!([{ "role": "user", "content": "hi" }]);
        let with = |field: &str, value: Value| {
            let mut body = json!({ "model": "m", "messages": user });
            body[field] = value;
            body
        };
        let messages = |messages: Value| with("messages", messages);
        let end = "`messages` must end with a user's message or with the outputs of tool calls";
        for (body, message, param) in [
            (json!({ "messages": user }), "`model` is missing", "model"),
            (json!({ "model": "m" }), "`messages` is missing", "messages"),
            (with("model", json!(1)), "`model` must be a string", "model"),
            (messages(json!([])), end, "messages"),
            (messages(json!("hi")), "`messages` must be an array", "messages"),
            (
                messages(json!([{ "role": "system", "content": "x" }])),
                end,
                "messages",
            ),
            (
                messages(
                    json!([{ "role": "user", "content": "a" }, { "role": "assistant", "content": "b" }]),
                ),
                end,
                "messages",
            ),
            (
                messages(json!([{ "content": "x" }])),
                "`messages[0].role` is missing",
                "messages[0].role",
            ),
            (
                messages(json!([{ "role": "robot", "content": "x" }])),
                "`messages[0].role` must be `system`, `developer`, `user`, `assistant` or `tool`",
                "messages[0].role",
            ),
            (
                messages(json!([{ "role": "user", "content": null }])),
                "`messages[0].content` is missing",
                "messages[0].content",
            ),
            (
                messages(json!([{ "role": "tool", "content": "x" }])),
                "`messages[0].tool_call_id` is missing",
                "messages[0].tool_call_id",
            ),
            (
                messages(json!([
                    { "role": "tool", "tool_call_id": "a", "content": "x" },
                    { "role": "tool", "tool_call_id": "a", "content": "y" },
                ])),
                "call `a` is answered twice in this request",
                "messages[1].tool_call_id",
            ),
            (with("n", json!(2)), "`n` must be 1: there is one answer", "n"),
            (
                with("max_tokens", json!(0)),
                "`max_tokens` must be a whole number above 0",
                "max_tokens",
            ),
            (
                with("temperature", json!(3)),
                "`temperature` must be a number from 0 to 2",
                "temperature",
            ),
            (
                with("stream", json!("yes")),
                "`stream` must be true or false",
                "stream",
            ),
            (
                with("stop", json!(["x"])),
                "`stop` is not supported: leave it out",
                "stop",
            ),
            (
                with("response_format", json!({ "type": "json_object" })),
                "`response_format` must have the type `text`: nothing makes the answer fit a schema, so ask for \
                 JSON in words",
                "response_format",
            ),
            (
                with("functions", json!([{ "name": "f" }])),
                "`functions` is how tools were given once: use `tools`",
                "functions",
            ),
        ] {
            assert_eq!(
                read(&body),
                Err((message.to_owned(), Some(param.to_owned()))),
                "{body}"
            );
        }
    }
}
