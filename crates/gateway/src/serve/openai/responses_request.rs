//! `POST /v1/responses`: what it asks for.
use codecell_llm::{Block, Message};
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::content::{shown, words};
use super::ids;
use super::part::{Part, Refused, is_given, refuse};
use super::request::{Conversation, Output, Said, Wanted, call};
use super::tools::{Shape, choice, functions};

/// What the id of a response begins with.
pub(super) const PREFIX: &str = "resp_";

/// A request as it was understood. Fields that are not read, such as `reasoning` or `top_p`, are hints that may be
/// left out without a wrong answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ResponsesRequest {
    pub(super) wanted: Wanted,
    pub(super) stream: bool,
    /// The turn to go on from.
    pub(super) previous: Option<String>,
    /// What the response repeats of the request.
    pub(super) repeated: Value,
}

const REFUSED: [Refused; 6] = [
    Refused {
        field: "background",
        when: is_given,
        why: "is not supported: a turn ends with the request that asked for it",
    },
    Refused {
        field: "conversation",
        when: is_given,
        why: "is not supported: use `previous_response_id`",
    },
    Refused {
        field: "prompt",
        when: is_given,
        why: "names a prompt, and there are none here: write it into `instructions` and `input`",
    },
    Refused {
        field: "top_logprobs",
        when: is_given,
        why: "are not there: leave it out",
    },
    Refused {
        field: "text",
        when: |value| {
            let format = value.get("format").filter(|format| !format.is_null());
            format.is_some_and(|format| format.get("type").and_then(Value::as_str) != Some("text"))
        },
        why: "must have the format `text`: nothing makes the answer fit a schema, so ask for JSON in words",
    },
    Refused {
        field: "moderation",
        when: is_given,
        why: "is not supported: leave it out",
    },
];

/// Reads the request.
pub(super) fn parse(body: &Part<'_>) -> Result<ResponsesRequest, ApiError> {
    refuse(body, &REFUSED)?;
    let previous = body.get("previous_response_id").map(|id| {
        let turn = ids::turn_of(PREFIX, id.text()?);
        turn.ok_or_else(super::failure::no_such_response)
    });
    let instructions = body.get("instructions");
    let instructions = instructions.map(|instructions| instructions.text()).transpose()?;
    Ok(ResponsesRequest {
        wanted: Wanted {
            model: body.need("model")?.text()?.to_owned(),
            said: said(instructions, &body.need("input")?)?,
            tools: functions(body, Shape::Flat)?,
            max_output_tokens: body
                .get("max_output_tokens")
                .map(|limit| limit.count())
                .transpose()?,
            temperature: body
                .get("temperature")
                .map(|temperature| temperature.number(0.0, 2.0))
                .transpose()?,
        },
        stream: body.get("stream").map_or(Ok(false), |stream| stream.flag())?,
        previous: previous.transpose()?,
        repeated: repeated(body),
    })
}

fn said(instructions: Option<&str>, input: &Part<'_>) -> Result<Said, ApiError> {
    let mut conversation = Conversation::default();
    if let Some(instructions) = instructions {
        conversation.instruct(instructions.to_owned());
    }
    if input.value().is_string() {
        conversation.user(Message::user(input.text()?));
        return conversation.end(input);
    }
    for item in input.items()? {
        read(&item, &mut conversation)?;
    }
    conversation.end(input)
}

fn read(item: &Part<'_>, conversation: &mut Conversation) -> Result<(), ApiError> {
    let kind = item.get("type");
    match kind.as_ref().map(Part::text).transpose()? {
        None | Some("message") => message(item, conversation)?,
        Some("function_call") => conversation.assistant([call(&item.need("call_id")?, item)?]),
        Some("function_call_output") => {
            let call = item.need("call_id")?;
            conversation.output(Output {
                call: call.text()?.to_owned(),
                text: words(&item.need("output")?)?,
                path: call.path().to_owned(),
            });
        }
        // What a model thought belongs to a provider; a client may repeat it all the same.
        Some("reasoning") => {}
        Some(_) => {
            let kind = item.need("type")?;
            return Err(kind.unsupported(
                "must be `message`, `function_call` or `function_call_output`: nothing else is understood here",
            ));
        }
    }
    Ok(())
}

fn message(item: &Part<'_>, conversation: &mut Conversation) -> Result<(), ApiError> {
    let role = item.need("role")?;
    let content = item.need("content")?;
    match role.text()? {
        "system" | "developer" => conversation.instruct(words(&content)?),
        "user" => conversation.user(Message::User(shown(&content)?)),
        "assistant" => {
            let text = Some(words(&content)?).filter(|text| !text.is_empty());
            conversation.assistant(text.map(Block::Text));
        }
        _ => return Err(role.invalid("must be `system`, `developer`, `user` or `assistant`")),
    }
    Ok(())
}

fn repeated(body: &Part<'_>) -> Value {
    let or = |field: &str, otherwise: Value| body.get(field).map_or(otherwise, |part| part.value().clone());
    json!({
        "model": or("model", Value::Null),
        "instructions": or("instructions", Value::Null),
        "previous_response_id": or("previous_response_id", Value::Null),
        "tools": or("tools", json!([])),
        "tool_choice": choice(body),
        "parallel_tool_calls": true,
        "max_output_tokens": or("max_output_tokens", Value::Null),
        "temperature": or("temperature", Value::Null),
        "top_p": null,
        "text": { "format": { "type": "text" } },
        "reasoning": { "effort": null, "summary": null },
        "truncation": "disabled",
        "background": false,
        "store": or("store", json!(true)),
        "metadata": or("metadata", json!({})),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &Value) -> Result<ResponsesRequest, (String, Option<String>)> {
        parse(&Part::body(body).unwrap()).map_err(|error| (error.body.message, error.body.param))
    }

    fn said_in(input: Value) -> Said {
        read(&json!({ "model": "m", "input": input }))
            .unwrap()
            .wanted
            .said
    }

    #[test]
    fn a_string_is_the_users_message() {
        let turn = "0123456789abcdef0123456789abcdef";
        let body = json!({
            "model": "codecell", "input": "hi", "instructions": "Be brief.", "stream": true, "temperature": 1,
            "max_output_tokens": 9, "previous_response_id": format!("resp_{turn}00000000"), "store": false,
            "metadata": { "a": "b" }, "tools": [{ "type": "function", "name": "look", "strict": true }],
            "reasoning": { "effort": "low" }, "text": { "format": { "type": "text" } }, "truncation": "auto",
        });
        let request = read(&body).unwrap();
        assert_eq!(
            request.wanted.said,
            Said::New {
                instructions: Some("Be brief.".into()),
                messages: vec![Message::user("hi")],
            }
        );
        assert_eq!(
            (
                request.wanted.max_output_tokens,
                request.wanted.temperature,
                request.stream
            ),
            (Some(9), Some(1.0), true)
        );
        assert_eq!(request.previous, Some(format!("turn_{turn}")));
        assert_eq!(
            request.repeated,
            json!({
                "model": "codecell", "instructions": "Be brief.",
                "previous_response_id": format!("resp_{turn}00000000"),
                "tools": [{ "type": "function", "name": "look", "strict": true }], "tool_choice": "auto",
                "parallel_tool_calls": true, "max_output_tokens": 9, "temperature": 1, "top_p": null,
                "text": { "format": { "type": "text" } }, "reasoning": { "effort": null, "summary": null },
                "truncation": "disabled", "background": false, "store": false, "metadata": { "a": "b" },
            })
        );
    }

    #[test]
    fn items_are_read_and_what_the_model_said_at_once_is_one_message() {
        let call = |id: &str| json!({ "type": "function_call", "id": "fc_1", "call_id": id, "name": "look", "arguments": "{}" });
        let output = |id: &str| json!({ "type": "function_call_output", "call_id": id, "output": "1" });
        let message =
            |role: &str, content: Value| json!({ "type": "message", "role": role, "content": content });
        let made = |id: &str| {
            Block::ToolCall(codecell_llm::ToolCall {
                id: id.into(),
                name: "look".into(),
                arguments: "{}".into(),
                signature: None,
            })
        };
        let result = |id: &str| {
            Message::ToolResult(codecell_llm::ToolResult {
                call_id: id.into(),
                name: String::new(),
                text: "1".into(),
                images: Vec::new(),
                is_error: false,
            })
        };
        let spoken = json!([{ "type": "output_text", "text": "Wait.", "annotations": [] }]);
        assert_eq!(
            said_in(json!([
                message("developer", json!("Be kind.")),
                { "role": "user", "content": [{ "type": "input_text", "text": "a" }] },
                { "type": "reasoning", "id": "rs_1", "summary": [] },
                message("assistant", spoken),
                call("c1"),
                call("c2"),
                output("c1"),
                output("c2"),
                message("user", json!("b")),
            ])),
            Said::New {
                instructions: Some("Be kind.".into()),
                messages: vec![
                    Message::user("a"),
                    Message::Assistant(vec![Block::Text("Wait.".into()), made("c1"), made("c2")]),
                    result("c1"),
                    result("c2"),
                    Message::user("b"),
                ],
            }
        );
        let outputs = said_in(json!([message("user", json!("a")), call("c1"), output("c1"), {
            "type": "function_call_output", "call_id": "c2",
            "output": [{ "type": "input_text", "text": "[1," }, { "type": "input_text", "text": "2]" }],
        }]));
        let given = |call: &str, text: &str, at: usize| Output {
            call: call.into(),
            text: text.into(),
            path: format!("input[{at}].call_id"),
        };
        assert_eq!(
            outputs,
            Said::Outputs(vec![given("c1", "1", 2), given("c2", "[1,2]", 3)])
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let with = |field: &str, value: Value| {
            let mut body = json!({ "model": "m", "input": "hi" });
            body[field] = value;
            body
        };
        let item = |item: Value| with("input", json!([item]));
        let kinds =
            "must be `message`, `function_call` or `function_call_output`: nothing else is understood here";
        for (body, message, param) in [
            (
                with("input", json!([])),
                "`input` must end with a user's message or with the outputs of tool calls".to_owned(),
                "input",
            ),
            (with("input", json!(7)), "`input` must be an array".into(), "input"),
            (
                item(json!({ "type": "item_reference", "id": "msg_1" })),
                format!("`input[0].type` {kinds}"),
                "input[0].type",
            ),
            (
                item(json!({ "role": "tool", "content": "x" })),
                "`input[0].role` must be `system`, `developer`, `user` or `assistant`".into(),
                "input[0].role",
            ),
            (
                item(json!({ "type": "function_call_output", "call_id": "c", "output": { "a": 1 } })),
                "`input[0].output` must be an array".into(),
                "input[0].output",
            ),
            (
                with("previous_response_id", json!("resp_1")),
                "there is no such response, or its session was deleted: send the conversation in `input` instead"
                    .into(),
                "previous_response_id",
            ),
            (
                with("background", json!(true)),
                "`background` is not supported: a turn ends with the request that asked for it".into(),
                "background",
            ),
            (
                with("conversation", json!("conv_1")),
                "`conversation` is not supported: use `previous_response_id`".into(),
                "conversation",
            ),
            (
                with("text", json!({ "format": { "type": "json_schema" } })),
                "`text` must have the format `text`: nothing makes the answer fit a schema, so ask for JSON in \
                 words"
                    .into(),
                "text",
            ),
        ] {
            assert_eq!(read(&body), Err((message, Some(param.to_owned()))), "{body}");
        }
    }
}
